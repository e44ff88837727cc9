// effort info.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <algorithm>
#include <cmath>

#include "command.hpp"
#include "golden_run.hpp"
#include "surgery.hpp"

using namespace effort::tools::test;
using effort::record::test::golden_file;
using effort::record::test::golden_load;
using effort::record::test::golden_run;
using effort::record::test::RawFile;

TEST_CASE("info reports the contents of a snapshot") {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(false));
  const Outcome outcome = scratch.run({"info", "run.effort", "--json"});
  REQUIRE(outcome.code == 0);
  CHECK(outcome.err.empty());
  const auto json = outcome.json();
  CHECK(json["version"] == "0.1.0");
  CHECK(json["ranks"] == 8);
  CHECK(json["nodes"] == 2);
  CHECK(json["steps"] == 60);
  CHECK(json["window"] == 10);
  CHECK(json["metrics"] == nlohmann::json::array({"cpu_time"}));
  CHECK(json["own_cpu_seconds"] == 0.09375);
  double computed = 0;
  for (const auto& item : json["regions"])
    if (item["kind"] == "compute") computed += item["metrics"]["cpu_time"]["total"].get<double>();
  CHECK_THAT(json["own_cpu_share"].get<double>(), Catch::Matchers::WithinRel(0.09375 / computed, 1e-9));
  CHECK(json["merged_steps"] == 3);
  CHECK(json["nrmse"].get<double>() > 0);
  CHECK(json["nrmse"].get<double>() < 0.1);
  REQUIRE(json["regions"].size() == 8);
  for (int region = 0; region < 8; ++region) {
    const auto& item = json["regions"][static_cast<std::size_t>(region)];
    double total = 0, largest = 0;
    for (int rank = 0; rank < 8; ++rank) {
      double sum = 0;
      for (int step = 0; step < 60; ++step) sum += golden_load(region, rank, step);
      total += sum;
      largest = std::max(largest, sum);
    }
    CHECK(item["name"] == "region_" + std::to_string(region));
    CHECK(item["kind"] == (region == 7 ? "wait" : region == 6 ? "comm" : "compute"));
    CHECK(item["phase"] == "");
    const auto& metric = item["metrics"]["cpu_time"];
    CHECK(std::abs(metric["total"].get<double>() / total - 1) < 1e-12);
    CHECK(std::abs(metric["mean_over_ranks"].get<double>() / (total / 8) - 1) < 1e-12);
    CHECK(std::abs(metric["max_over_ranks"].get<double>() / largest - 1) < 1e-12);
    CHECK(std::abs(metric["imbalance"].get<double>() - (8 * largest / total - 1)) < 1e-12);
  }
  REQUIRE(json["windows"].size() == 6);
  CHECK(json["windows"][1]["first"] == 10);
  CHECK(json["windows"][1]["last"] == 19);
  CHECK(json["windows"][1]["imbalance"] == 0.625);
  CHECK(json["windows"][1]["rebalance"] == 1);
  CHECK(json["windows"][1]["rebalanced"] == 1);
  CHECK(json["windows"][0]["rebalanced"] == 0);
  CHECK(json["windows"][0]["prediction_error"].is_null());
  CHECK(json["windows"][0]["rebalance_cost"].is_null());
  CHECK(json["windows"][0]["strata"] == 2);
#define EFFORT_NUMBER(name, unknown, unit, meaning) CHECK(json["windows"][1].contains(#name));
  EFFORT_WINDOW_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
}

TEST_CASE("the text of info names everything once") {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(true));
  const Outcome outcome = scratch.run({"info", "run.effort"});
  REQUIRE(outcome.code == 0);
  for (const char* part : {"golden (job 1), effort 0.1.0", "8 ranks on 2 nodes, 60 steps in 2.5 s",
                           "3 steps merged into later ones", "Regions", "region_3", "Windows", "10..19", "done at 22",
                           "Strata of steps 50..59", "Unit costs", "200 ns", "Notes"}) {
    INFO(part);
    CHECK(outcome.out.find(part) != std::string::npos);
  }
}

namespace {

/// Every command that reads snapshots ends with a sentence on standard error, and leaves nothing behind.
void refused_by_all(const Scratch& scratch, const std::string& file, const std::string& reason) {
  std::vector<std::vector<std::string>> lines = {{"info", file},
                                                 {"info", file, "--json"},
                                                 {"info", file, "--heat-map", "always"},
                                                 {"diff", file, "good.effort"},
                                                 {"diff", "good.effort", file, "--json"}};
  for (const char* format : {"csv", "npy", "vtk", "hdf5"})
    lines.push_back({"export", file, "--format", format, "-o", "out"});
  std::filesystem::create_directory(scratch / "snaps");
  std::filesystem::copy_file(scratch / file, scratch / "snaps/app-1-00000001.effort",
                             std::filesystem::copy_options::overwrite_existing);
  lines.push_back({"top", "snaps", "--once"});
  for (const std::vector<std::string>& line : lines) {
    const Outcome outcome = scratch.run(line);
    INFO(line[0] << ": " << outcome.err);
    if (outcome.err.find("built without") != std::string::npos) continue;
    CHECK(outcome.code == 1);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.find(reason) != std::string::npos);
    if (line[0] != "top") CHECK(outcome.err.find("file '" + file + "'") != std::string::npos);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(scratch / "out"));
  }
}

}  // namespace

TEST_CASE("a damaged snapshot is refused with file and byte") {
  const Scratch scratch;
  scratch.write("good.effort", golden_file(false));
  const std::vector<std::byte> good = golden_file(false);
  for (std::size_t at : {std::size_t{3}, std::size_t{12}, good.size() / 2, good.size() - 60, good.size() - 1}) {
    std::vector<std::byte> bad = good;
    bad[at] ^= std::byte{0x10};
    scratch.write("bad.effort", bad);
    refused_by_all(scratch, "bad.effort", ", byte ");
  }
  scratch.write("cut.effort", std::vector<std::byte>(good.begin(), good.end() - 100));
  refused_by_all(scratch, "cut.effort", "cut short");
}

TEST_CASE("a snapshot of a newer format is refused with a remedy") {
  const Scratch scratch;
  scratch.write("good.effort", golden_file(false));
  RawFile file = RawFile::parse(golden_file(false));
  file.major = 2;
  scratch.write("newer.effort", file.assemble());
  refused_by_all(scratch, "newer.effort", "read it with a newer effort");
}

TEST_CASE("an inconsistent history with correct checksums is refused") {
  const Scratch scratch;
  scratch.write("good.effort", golden_file(false));
  RawFile file = RawFile::parse(golden_file(false));
  std::vector<std::byte>& payload = file.section("TILE").payload;
  int refused = 0;
  for (std::size_t at = 40; at < payload.size(); at += payload.size() / 12) {
    RawFile bad = file;
    bad.section("TILE").payload[at] ^= std::byte{0x55};
    scratch.write("bad.effort", bad.assemble());
    for (const char* format : {"vtk", "hdf5"}) {
      const Outcome outcome = scratch.run({"export", "bad.effort", "--format", format, "-o", "out"});
      INFO(at << ": " << outcome.err);
      CHECK(outcome.code >= 0);
      CHECK(outcome.err.empty() == (outcome.code == 0));
      refused += outcome.code == 1;
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("a file that is not a snapshot is reported as such") {
  const Scratch scratch;
  scratch.write_text("text.effort", "hello world");
  CHECK(scratch.run({"info", "text.effort"}).err.find("this is not an effort snapshot (file 'text.effort', byte 0)") !=
        std::string::npos);
  CHECK(scratch.run({"info", "missing.effort"}).err.find("'missing.effort'") != std::string::npos);
  CHECK(scratch.run({"info", "missing.effort"}).code == 1);
  CHECK(scratch.run({"info", "."}).code == 1);
}
