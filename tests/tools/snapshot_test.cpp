// effort info.
#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "command.hpp"
#include "golden_run.hpp"

using namespace effort::tools::test;
using effort::snapshot::test::golden_file;
using effort::snapshot::test::golden_load;
using effort::snapshot::test::golden_run;

TEST_CASE("info says what is in a snapshot") {
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
}

TEST_CASE("info for people names everything once") {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(true));
  const Outcome outcome = scratch.run({"info", "run.effort"});
  REQUIRE(outcome.code == 0);
  for (const char* part : {"golden (job 1), effort 0.1.0", "8 ranks on 2 nodes, 60 steps in 2.5 s", "3 steps merged into others", "Regions", "region_3", "Windows", "10..19", "done at 22",
                           "Strata of steps 50..59", "Unit costs", "200 ns", "Notes"}) {
    INFO(part);
    CHECK(outcome.out.find(part) != std::string::npos);
  }
}

TEST_CASE("a damaged snapshot is refused with file and byte") {
  const Scratch scratch;
  const std::vector<std::byte> good = golden_file(false);
  for (std::size_t at : {std::size_t{3}, std::size_t{12}, good.size() / 2, good.size() - 60, good.size() - 1}) {
    std::vector<std::byte> bad = good;
    bad[at] ^= std::byte{0x10};
    scratch.write("bad.effort", bad);
    for (const char* command : {"info", "export"}) {
      std::vector<std::string> line = {command, "bad.effort"};
      if (line[0] == "export") line.insert(line.end(), {"--format", "csv", "-o", "out.csv"});
      const Outcome outcome = scratch.run(line);
      INFO(outcome.err);
      CHECK(outcome.code == 1);
      CHECK(outcome.out.empty());
      CHECK(outcome.err.find("file 'bad.effort', byte ") != std::string::npos);
      CHECK_FALSE(std::filesystem::exists(scratch / "out.csv"));
    }
  }
  scratch.write("cut.effort", std::vector<std::byte>(good.begin(), good.end() - 100));
  const Outcome outcome = scratch.run({"info", "cut.effort"});
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("cut short") != std::string::npos);
}

TEST_CASE("what is no snapshot is said to be none") {
  const Scratch scratch;
  scratch.write_text("text.effort", "hello world");
  CHECK(scratch.run({"info", "text.effort"}).err.find("this is no effort snapshot (file 'text.effort', byte 0)") != std::string::npos);
  CHECK(scratch.run({"info", "missing.effort"}).err.find("'missing.effort'") != std::string::npos);
  CHECK(scratch.run({"info", "missing.effort"}).code == 1);
  CHECK(scratch.run({"info", "."}).code == 1);
}
