// effort calls, as a user runs it.
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "command.hpp"
#include "record/calls/file.hpp"
#include "recordings.hpp"
#include "streams.hpp"
#include "tools/output/output.hpp"

namespace {

using effort::calls::test::program;
using effort::calls::test::Stream;
using effort::tools::test::Outcome;
using effort::tools::test::Scratch;

std::vector<std::byte> raw(const Stream& events, unsigned width) {
  std::vector<std::byte> out(events.size() * width);
  for (std::size_t i = 0; i < events.size(); ++i) std::memcpy(&out[i * width], &events[i], width);
  return out;
}

}  // namespace

TEST_CASE("calls: encode and decode give the same bytes, for both widths") {
  const Scratch scratch;
  for (const unsigned width : {2u, 4u}) {
    Stream events = program(1, 300);
    if (width == 4) events.insert(events.end(), {70'000, 0});
    scratch.write("in", raw(events, width));
    const Outcome encoded =
        scratch.run({"calls", "encode", "in", "--width", std::to_string(width), "-o", "x.calls", "--json"});
    REQUIRE(encoded.code == 0);
    CHECK(encoded.json()["events"] == events.size());
    CHECK(encoded.json()["bytes"] == std::filesystem::file_size(scratch / "x.calls"));
    CHECK(encoded.json()["seconds"].is_number());
    const Outcome decoded = scratch.run({"calls", "decode", "x.calls", "out", "--json"});
    REQUIRE(decoded.code == 0);
    CHECK(decoded.json()["events"] == events.size());
    CHECK(decoded.json()["bytes"] == events.size() * width);
    CHECK(scratch.read_text("out") == scratch.read_text("in"));
  }
}

TEST_CASE("calls: several streams, of which one can be decoded") {
  const Scratch scratch;
  scratch.write("a", raw(program(1, 20), 2));
  scratch.write("b", raw(program(2, 20), 2));
  scratch.write("empty", std::vector<std::byte>{});
  REQUIRE(scratch.run({"calls", "encode", "a", "empty", "b", "-o", "x.calls"}).code == 0);
  REQUIRE(scratch.run({"calls", "decode", "x.calls", "all"}).code == 0);
  CHECK(scratch.read_text("all") == scratch.read_text("a") + scratch.read_text("b"));
  REQUIRE(scratch.run({"calls", "decode", "x.calls", "two", "--stream", "2"}).code == 0);
  CHECK(scratch.read_text("two") == scratch.read_text("b"));
  const Outcome wrong = scratch.run({"calls", "decode", "x.calls", "two", "--stream", "3"});
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("has streams 0 to 2") != std::string::npos);
}

TEST_CASE("calls: bad input is refused with a sentence that names file and byte") {
  const Scratch scratch;
  scratch.write("odd", std::vector<std::byte>(7));
  const Outcome odd = scratch.run({"calls", "encode", "odd", "-o", "x.calls"});
  CHECK(odd.code == 1);
  CHECK(odd.err.find("(file 'odd', byte 6)") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(scratch / "x.calls"));
  CHECK(scratch.run({"calls", "encode", "odd", "--width", "3", "-o", "x.calls"}).code == 2);
  CHECK(scratch.run({"calls", "encode", "missing", "-o", "x.calls"}).code == 1);
  const Outcome foreign = scratch.run({"calls", "decode", "odd", "out"});
  CHECK(foreign.code == 1);
  CHECK(foreign.err.find("(file 'odd', byte 0)") != std::string::npos);
  scratch.write("wide", raw({70'000, 0}, 4));
  REQUIRE(scratch.run({"calls", "encode", "wide", "--width", "4", "-o", "x.calls"}).code == 0);
  const Outcome narrow = scratch.run({"calls", "decode", "x.calls", "out", "--width", "2"});
  CHECK(narrow.code == 1);
  CHECK(narrow.err.find("event 0 has the id 70000") != std::string::npos);
  CHECK(scratch.run({"calls", "encode", "wide", "--width", "4", "-o", "wide"}).code == 2);
}

namespace {

/// A program with a loop; rank 1 goes another way in the second step, and hangs.
Stream rank_stream(int rank) {
  Stream out{1};
  for (int step = 0; step < 3; ++step) {
    out.push_back(2);
    for (int i = 0; i < (rank == 2 ? 7 : 5); ++i) out.insert(out.end(), {3, 0});
    if (rank == 1 && step == 1) {
      out.insert(out.end(), {4, 5});
      return out;
    }
    out.push_back(0);
  }
  out.push_back(0);
  return out;
}

void write_ranks(const Scratch& scratch) {
  for (int rank = 0; rank < 3; ++rank) scratch.write(std::to_string(rank), raw(rank_stream(rank), 2));
  REQUIRE(scratch.run({"calls", "encode", "0", "1", "2", "-o", "x.calls"}).code == 0);
}

}  // namespace

TEST_CASE("calls info: counts by function and stream, and open calls") {
  const Scratch scratch;
  write_ranks(scratch);
  const nlohmann::json all = scratch.run({"calls", "info", "x.calls", "--json"}).json();
  CHECK(all["calls"] == (1 + 3 * 6) + (1 + 6 + 8) + (1 + 3 * 8));
  CHECK(all["depth"] == 4);
  CHECK(all["functions"][0]["name"] == "3");
  CHECK(all["functions"][0]["calls"] == 15 + 10 + 21);
  CHECK(all["streams"][1]["open"] == nlohmann::json({"1", "2", "4", "5"}));
  CHECK(all["streams"][0]["open"].empty());
  CHECK(all["edges"][0] == nlohmann::json({{"caller", "2"}, {"callee", "3"}, {"calls", 46}}));
  CHECK_FALSE(all.contains("groups"));
  const nlohmann::json one = scratch.run({"calls", "info", "x.calls", "--rank", "1", "--json"}).json();
  CHECK(one["calls"] == 15);
  CHECK(one["streams"].size() == 1);
  CHECK(scratch.run({"calls", "info", "x.calls", "--rank", "3"}).code == 2);
  // Raw streams give the same, if their width is given.
  CHECK(scratch.run({"calls", "info", "0", "1", "2", "--width", "2", "--json"}).json()["functions"] ==
        all["functions"]);
  const Outcome refused = scratch.run({"calls", "info", "0"});
  CHECK(refused.code == 1);
  CHECK(refused.err.find("give --width") != std::string::npos);
  const Outcome text = scratch.run({"calls", "info", "x.calls", "--folded", "stacks"});
  REQUIRE(text.code == 0);
  CHECK(text.out.find("1 > 2 > 4 > 5") != std::string::npos);
  CHECK(scratch.read_text("stacks") == "1 3\n1;2 8\n1;2;3 46\n1;2;4 1\n1;2;4;5 1\n");
}

TEST_CASE("calls info: calls of each rank and thread, which add up to all") {
  const Scratch scratch;
  write_ranks(scratch);
  for (const std::string by : {"rank", "thread"}) {
    const nlohmann::json info = scratch.run({"calls", "info", "x.calls", "--by", by, "--json"}).json();
    REQUIRE(info["groups"].size() == 3);
    const nlohmann::json& hung = info["groups"][1];
    CHECK(hung["rank"] == 1);
    CHECK(hung.contains("thread") == (by == "thread"));
    CHECK(hung["calls"] == 15);
    CHECK(hung["functions"].size() == 5);
    CHECK(info["groups"][2]["functions"].size() == 3);  // 4 and 5 are not called there
    CHECK(info["groups"][2]["edges"] == nlohmann::json({{{"caller", "2"}, {"callee", "3"}, {"calls", 21}},
                                                        {{"caller", "1"}, {"callee", "2"}, {"calls", 3}}}));
    for (const char* list : {"functions", "edges"}) {
      std::uint64_t all = 0, sum = 0;
      for (const nlohmann::json& entry : info[list]) all += entry["calls"].get<std::uint64_t>();
      for (const nlohmann::json& group : info["groups"])
        for (const nlohmann::json& entry : group[list]) sum += entry["calls"].get<std::uint64_t>();
      CHECK(sum == all);
    }
  }
  const Outcome text = scratch.run({"calls", "info", "x.calls", "--by", "rank"});
  REQUIRE(text.code == 0);
  CHECK(text.out.find("\nrank 1: 15 calls\n") != std::string::npos);
  CHECK(scratch.run({"calls", "info", "x.calls", "--by", "node"}).code == 2);
  // Ranks of several runs are told apart.
  std::filesystem::copy(scratch / "x.calls", scratch / "y.calls");
  CHECK(scratch.run({"calls", "info", "x.calls", "y.calls", "--by", "rank"})
            .out.find("\nrank 1 of y.calls: 15 calls\n") != std::string::npos);
  const nlohmann::json both = scratch.run({"calls", "info", "x.calls", "y.calls", "--by", "rank", "--json"}).json();
  REQUIRE(both["groups"].size() == 6);
  CHECK(both["groups"][4]["input"] == "y.calls");
}

TEST_CASE("calls info: a rank with several threads, with time stamps") {
  effort::record::calls::FileMaker maker;
  // Of a call each, with the times of the entry and the return since the stamp before.
  maker.append(0, Stream{1, 2, 0, 0}, 1, std::vector<std::uint64_t>{0, 10, 30, 5});
  maker.append(1, Stream{1, 0}, 1, std::vector<std::uint64_t>{0, 100});
  maker.append(2, Stream{1, 0}, 1, std::vector<std::uint64_t>{0, 1000});
  effort::record::calls::Names names;
  names.streams.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    names.streams[i].rank = i < 2 ? 4 : 7;
    names.streams[i].thread = i % 2;
  }
  const Scratch scratch;
  scratch.write("x.calls", maker.finish(std::move(names)));
  const nlohmann::json info = scratch.run({"calls", "info", "x.calls", "--by", "rank", "--json"}).json();
  REQUIRE(info["groups"].size() == 2);
  CHECK(info["groups"][0]["rank"] == 4);
  CHECK(info["groups"][0]["calls"] == 3);
  const auto near = [](const nlohmann::json& seconds, double ns) {
    return std::abs(1e9 * seconds.get<double>() - ns) < 1e-3;
  };
  CHECK(info["groups"][0]["functions"][0]["name"] == "1");
  CHECK(near(info["groups"][0]["functions"][0]["own_seconds"], 15 + 100));
  CHECK(near(info["groups"][0]["functions"][0]["inclusive_seconds"], 45 + 100));
  CHECK(near(info["groups"][1]["functions"][0]["own_seconds"], 1000));
  const nlohmann::json threads = scratch.run({"calls", "info", "x.calls", "--by", "thread", "--json"}).json();
  REQUIRE(threads["groups"].size() == 3);
  CHECK(threads["groups"][1]["thread"] == 1);
  CHECK(near(threads["groups"][1]["functions"][0]["own_seconds"], 100));
}

TEST_CASE("calls: inputs that are missing, or hold no calls") {
  const Scratch scratch;
  const Outcome missing = scratch.run({"calls", "info", "missing"});
  CHECK(missing.code == 1);
  CHECK(missing.err.find("cannot open 'missing': No such file or directory") != std::string::npos);
  std::filesystem::create_directories(scratch / "runs" / "app-1.functions");
  const Outcome above = scratch.run({"calls", "info", "runs"});
  CHECK(above.code == 1);
  CHECK(above.err.find("'runs/app-1.functions' may have some") != std::string::npos);
}

TEST_CASE("calls: what a recording that was cut short lacks is said") {
  effort::record::calls::test::RecordingMaker maker(3);
  Stream events;
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) events.insert(events.end(), {1 + static_cast<std::uint32_t>(random() % 3), 0});
  maker.thread(0, events);
  const std::vector<std::byte> whole = maker.bytes();
  const Scratch scratch;
  scratch.write("whole.rec", whole);
  CHECK(scratch.run({"calls", "info", "whole.rec"}).err.find("blocks") == std::string::npos);
  scratch.write("cut.rec", std::vector(whole.begin(), whole.end() - 5000));
  for (const char* command : {"info", "graph"}) {
    const Outcome cut = scratch.run({"calls", command, "cut.rec"});
    CHECK(cut.code == 0);
    CHECK(cut.err.find("'cut.rec' ends at byte " + std::to_string(whole.size() - 5000) + ", before 2 of its blocks") !=
          std::string::npos);
  }
  CHECK(scratch.run({"calls", "encode", "cut.rec", "-o", "x.calls"}).err.find("before 2 of its") != std::string::npos);
}

namespace {

/// A file of streams of one call each of as many functions, with ranks, processes and threads.
void write_streams(const Scratch& scratch, const char* name, const std::vector<std::array<int, 4>>& streams) {
  effort::record::calls::FileMaker maker;
  effort::record::calls::Names names;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    Stream calls;
    for (int k = 0; k < streams[i][3]; ++k) calls.insert(calls.end(), {1, 0});
    maker.append(i, calls);
    effort::record::calls::Stream& s = names.streams.emplace_back();
    s.rank = streams[i][0];
    s.process = static_cast<std::uint64_t>(streams[i][1]);
    s.thread = static_cast<std::uint64_t>(streams[i][2]);
  }
  scratch.write(name, maker.finish(std::move(names)));
}

}  // namespace

TEST_CASE("calls: without a launcher, a process counts as a rank, and processes of one rank are told apart") {
  const Scratch scratch;
  write_streams(scratch, "x.calls", {{-1, 70, 0, 3}, {-1, 70, 1, 4}, {-1, 71, 0, 5}});
  const nlohmann::json info = scratch.run({"calls", "info", "x.calls", "--by", "rank", "--json"}).json();
  REQUIRE(info["groups"].size() == 2);
  CHECK(info["groups"][0]["calls"] == 7);
  CHECK(info["groups"][1]["process"] == 71);
  CHECK(scratch.run({"calls", "info", "x.calls", "--by", "rank"}).out.find("\nprocess 70: 7 calls\n") !=
        std::string::npos);
  // A rank and a child of fork().
  write_streams(scratch, "a.calls", {{2, 80, 0, 3}, {2, 81, 0, 4}});
  write_streams(scratch, "b.calls", {{2, 90, 0, 3}, {2, 91, 0, 4}});
  const Outcome same = scratch.run({"calls", "diff", "a.calls", "b.calls"});
  CHECK(same.out.find("0 of 2 streams differ") != std::string::npos);
}

TEST_CASE("calls: a recording that has not begun does not hide the others") {
  effort::record::calls::test::RecordingMaker maker(3);
  maker.thread(0, Stream{1, 2, 0, 0});
  const Scratch scratch;
  std::filesystem::create_directories(scratch / "app.functions");
  scratch.write("app.functions/a.rec", std::vector<std::byte>(4096));
  scratch.write("app.functions/b.rec", maker.bytes());
  scratch.write("app.functions/c.rec", std::vector<std::byte>());
  const Outcome info = scratch.run({"calls", "info", "app.functions", "--json"});
  REQUIRE(info.code == 0);
  CHECK(info.json()["calls"] == 2);
  CHECK(info.json()["streams"].size() == 1);
  CHECK(info.json()["notes"].size() >= 2);
  CHECK(scratch.run({"calls", "info", "app.functions"}).err.find("a.rec' is empty: its process ended before") !=
        std::string::npos);
}

TEST_CASE("equal texts are numbered") {
  std::vector<std::string> texts{"solve", "halo", "halo", "step", "halo"};
  effort::tools::number_equal(texts);
  CHECK(texts == std::vector<std::string>{"solve", "halo", "halo #2", "step", "halo #3"});
}

TEST_CASE("names of a table that differ are shown differently, however short they are cut") {
  using effort::tools::name_texts;
  const std::string start(30, 'a'), end(30, 'z');
  const std::vector<std::string> names{start + "1" + end, start + "2" + end, "short", start + "1" + end, ""};
  const std::vector<std::string> cut = name_texts(names, 20);
  CHECK(cut[0] != cut[1]);
  CHECK(cut[0] == cut[3]);
  CHECK(cut[0].size() <= 20);
  CHECK(cut[2] == "short");
  CHECK(cut[4].empty());
  CHECK(name_texts({names[0], "other"}, 20)[0].size() == 20);
  // Three names, of which two differ only after the first difference.
  const std::string more(60, 'b');
  const std::vector<std::string> three =
      name_texts({start + "1" + more + "1" + end, start + "1" + more + "2" + end, start + "2" + more + "2" + end}, 20);
  CHECK(std::set<std::string>(three.begin(), three.end()).size() == 3);
  // Never within a character.
  const std::string umlauts =
      "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";
  for (std::size_t width = 8; width < 30; ++width)
    for (const std::string& text : name_texts({umlauts + "1" + umlauts, umlauts + "2" + umlauts}, width))
      CHECK(effort::tools::valid_utf8(text) == text);
}

TEST_CASE("calls graph: edges and loops") {
  const Scratch scratch;
  write_ranks(scratch);
  const nlohmann::json graph = scratch.run({"calls", "graph", "x.calls", "--json"}).json();
  REQUIRE(graph["edges"].size() == 4);
  CHECK(graph["edges"][1] == nlohmann::json({{"caller", "2"}, {"callee", "3"}, {"calls", 46}}));
  const nlohmann::json& loop = graph["loops"][0];
  CHECK(loop["function"] == "2");
  CHECK(loop["body"] == nlohmann::json({"3"}));
  CHECK(loop["runs"] == 8);
  CHECK(loop["iterations"] == 46);
  CHECK(loop["least"] == 5);
  CHECK(loop["most"] == 7);
  const Outcome dot = scratch.run({"calls", "graph", "x.calls", "--rank", "0", "-o", "g.dot"});
  REQUIRE(dot.code == 0);
  const std::string text = scratch.read_text("g.dot");
  CHECK(text.starts_with("digraph calls {"));
  CHECK(text.find("f2 -> f3 [label=\"15, in loops of 5\", style=bold]") != std::string::npos);
}

TEST_CASE("calls diff: the first difference, loops, and the stack of a rank that hangs") {
  const Scratch scratch;
  write_ranks(scratch);
  const nlohmann::json same = scratch.run({"calls", "diff", "x.calls", "x.calls", "--json"}).json();
  CHECK(same["first_difference"].is_null());
  CHECK(same["pairs"].size() == 3);
  CHECK(scratch.run({"calls", "diff", "x.calls", "x.calls"}).out ==
        "0 of 3 streams differ\n  open at the end of both, rank 1: 1 > 2 > 4 > 5\n");
  const nlohmann::json hung = scratch.run({"calls", "diff", "x.calls", "x.calls", "--ranks", "0,1", "--json"}).json();
  CHECK(hung["first_difference"] ==
        nlohmann::json({{"event", 1 + 12 + 1 + 10}, {"a", "return"}, {"b", "4"}, {"stack", {"1", "2"}}}));
  CHECK(hung["pairs"][0]["open_b"] == nlohmann::json({"1", "2", "4", "5"}));
  CHECK(hung["pairs"][0]["open_a"].empty());
  const nlohmann::json loops = scratch.run({"calls", "diff", "0", "2", "--width", "2", "--json"}).json();
  CHECK(loops["first_difference"]["event"] == 12);
  CHECK(loops["pairs"][0]["loops"][0] == nlohmann::json({{"stack", {"1", "2"}}, {"body", {"3"}}, {"a", 5}, {"b", 7}}));
  const Outcome text = scratch.run({"calls", "diff", "x.calls", "x.calls", "--ranks", "0,1"});
  REQUIRE(text.code == 0);
  CHECK(text.out.find("first difference at event 24") != std::string::npos);
  CHECK(text.out.find("  open at the end of B: 1 > 2 > 4 > 5\n    on rank 0: none\n    on rank 2: none\n") !=
        std::string::npos);
  CHECK(hung["pairs"][0]["near_b"] == nlohmann::json({{{"rank", 0}, {"open", nlohmann::json::array()}},
                                                      {{"rank", 2}, {"open", nlohmann::json::array()}}}));
  CHECK(hung["pairs"][0]["near_a"].empty());
  // Also if all ranks are compared, here with a run that ended.
  REQUIRE(scratch.run({"calls", "encode", "0", "0", "2", "-o", "y.calls"}).code == 0);
  const nlohmann::json all = scratch.run({"calls", "diff", "x.calls", "y.calls", "--json"}).json();
  CHECK(all["pairs"][1]["near_a"] == hung["pairs"][0]["near_b"]);
  CHECK(all["pairs"][0]["near_a"].empty());
  // A first difference outside all calls.
  scratch.write("other", raw({7, 0}, 2));
  CHECK(scratch.run({"calls", "diff", "0", "other", "--width", "2"}).out.find("\n  at the top level\n") !=
        std::string::npos);
  CHECK(scratch.run({"calls", "diff", "x.calls", "x.calls", "--ranks", "0,9"}).code == 2);
}

TEST_CASE("calls info: without time stamps there are no times") {
  const Scratch scratch;
  write_ranks(scratch);
  const nlohmann::json info = scratch.run({"calls", "info", "x.calls", "--json"}).json();
  CHECK(info["functions"][0]["own_seconds"].is_null());
  CHECK(info["paths"][0]["own_seconds"].is_null());
  CHECK(info["streams"][0]["stamp_every"] == 0);
  const Outcome refused = scratch.run({"calls", "info", "x.calls", "--folded-time", "out"});
  CHECK(refused.code == 2);
  CHECK(refused.err.find("--folded-time needs time stamps: record with EFFORT_FUNCTIONS_STAMPS=1") !=
        std::string::npos);
}

TEST_CASE("calls info: times that no integer holds are bounded") {
  effort::record::calls::FileMaker maker;
  Stream events;
  for (int i = 0; i < 5000; ++i) events.insert(events.end(), {1, 0});
  maker.append(0, events, 1000, std::vector<std::uint64_t>(4, ~std::uint64_t{0} >> 1));
  effort::record::calls::Names names;
  names.streams.resize(1);
  const Scratch scratch;
  scratch.write("x.calls", maker.finish(std::move(names)));
  REQUIRE(scratch.run({"calls", "info", "x.calls", "--folded-time", "folded"}).code == 0);
  CHECK(scratch.read_text("folded") == "1 9000000000000000\n");
}
