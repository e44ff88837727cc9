// Function calls in the report's page.
#include <catch2/catch_test_macros.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "command.hpp"
#include "tools/report/report_calls.hpp"

namespace {

using effort::tools::test::Scratch;
using nlohmann::ordered_json;

std::vector<std::uint64_t> unpacked(const std::string& text) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint64_t> out;
  std::uint32_t word = 0;
  std::uint64_t value = 0;
  int bits = 0, shift = 0;
  for (const char c : text) {
    if (c == '=') break;
    word = word << 6 | static_cast<std::uint32_t>(digits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    const std::uint64_t byte = word >> bits & 255;
    value |= (byte & 127) << shift;
    shift += 7;
    if (byte >= 128) continue;
    out.push_back(value);
    value = 0;
    shift = 0;
  }
  return out;
}

/// main calls `wide` different functions, each of which calls leaves; ranks differ in the numbers of leaves.
void write_ranks(const Scratch& scratch, const std::string& name, const std::vector<int>& leaves, int wide) {
  std::vector<std::string> arguments = {"calls", "encode"};
  for (std::size_t rank = 0; rank < leaves.size(); ++rank) {
    std::vector<std::uint16_t> events = {1};
    for (int f = 0; f < wide; ++f) {
      events.push_back(static_cast<std::uint16_t>(3 + f));
      for (int i = 0; i < leaves[rank]; ++i) events.insert(events.end(), {2, 0});
      events.push_back(0);
    }
    events.push_back(0);
    std::vector<std::byte> bytes(2 * events.size());
    std::memcpy(bytes.data(), events.data(), bytes.size());
    arguments.push_back(name + std::to_string(rank));
    scratch.write(arguments.back(), bytes);
  }
  arguments.insert(arguments.end(), {"-o", name + ".calls"});
  REQUIRE(scratch.run(arguments).code == 0);
}

}  // namespace

TEST_CASE("report: equal ranks are one view of function calls, and every two others are compared") {
  const Scratch scratch;
  write_ranks(scratch, "a", {5, 4, 5, 5, 6}, 3);
  const ordered_json page = effort::tools::calls_for_page({(scratch / "a.calls").string()}, {}, 1'000'000);
  const ordered_json& source = page["sources"][0];
  REQUIRE(source["views"].size() == 4);
  CHECK(source["views"][1]["ranks"] == ordered_json::parse("[[0,0],[2,3]]"));
  CHECK(source["views"][2]["ranks"] == ordered_json::parse("[[1,1]]"));
  CHECK(page["pairs"].size() == 3);
  CHECK(page["ranks_left_out"] == 0);
  // Contexts: main, then each function and its leaves.
  const std::vector<std::uint64_t> contexts = unpacked(source["contexts"]),
                                   calls = unpacked(source["views"][2]["contexts"]);
  REQUIRE(contexts.size() == 2 * 7);
  REQUIRE(calls.size() == 7);
  CHECK(contexts[0] == 0);
  CHECK(contexts[2] == 1);  // the second context was called from the first
  CHECK(page["texts"][contexts[1]] == "1");
  CHECK(calls[0] == 2 * 1);
  CHECK(calls[2] == 2 * 4);  // leaves of rank 1
  CHECK(unpacked(source["views"][0]["contexts"])[2] == 2 * (5 + 4 + 5 + 5 + 6));
  const ordered_json& loops = source["views"][3]["loops"];
  REQUIRE(loops.size() == 3);
  CHECK(loops[0][3] == 6);
  const ordered_json& pair = page["pairs"][0];
  CHECK(pair["a"] == ordered_json::parse("[0,1]"));
  CHECK(pair["b"] == ordered_json::parse("[0,2]"));
  CHECK(pair["differ"][0]["first_difference"]["event"] == 2 + 2 * 4);
  CHECK(page["texts"][pair["differ"][0]["first_difference"]["a"].get<std::size_t>()] == "2");
}

TEST_CASE("report: the calls of contexts that do not fit into the page count for their callers") {
  const Scratch scratch;
  write_ranks(scratch, "a", {1}, 300);
  const ordered_json page = effort::tools::calls_for_page({(scratch / "a.calls").string()}, {}, 64 * 100);
  const ordered_json& source = page["sources"][0];
  CHECK(source["context_count"] == 601);
  const std::vector<std::uint64_t> contexts = unpacked(source["contexts"]);
  REQUIRE(contexts.size() == 2 * 100);
  const std::vector<std::uint64_t> calls = unpacked(source["views"][0]["contexts"]);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    sum += calls[i] / 2;
    if (calls[i] % 2 == 1) sum += calls[++i];
  }
  CHECK(sum == 601);
}

TEST_CASE("report: two files of calls are compared rank by rank") {
  const Scratch scratch;
  write_ranks(scratch, "a", {5, 5}, 2);
  write_ranks(scratch, "b", {5, 7}, 2);
  const ordered_json page =
      effort::tools::calls_for_page({(scratch / "a.calls").string(), (scratch / "b.calls").string()}, {}, 1'000'000);
  REQUIRE(page["pairs"].size() == 3);  // rank 0, rank 1, and the ranks of b with each other
  CHECK(page["pairs"][0]["differ"].empty());
  CHECK(page["pairs"][1]["differ"][0]["loops"][0]["b"] == 7);
}

TEST_CASE("report: files of calls are told from snapshots and traces") {
  const Scratch scratch;
  write_ranks(scratch, "a", {5}, 2);
  std::filesystem::create_directory(scratch / "empty.trace");
  std::filesystem::create_directory(scratch / "run.functions");
  scratch.write_text("run.functions/rank-0-17.rec", "");
  CHECK(effort::tools::names_calls((scratch / "a.calls").string()));
  CHECK(effort::tools::names_calls((scratch / "run.functions").string()));
  CHECK_FALSE(effort::tools::names_calls((scratch / "empty.trace").string()));
  CHECK_FALSE(effort::tools::names_calls((scratch / "a0").string()));
  CHECK_FALSE(effort::tools::names_calls((scratch / "missing").string()));
}
