// effort comm of snapshots.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "../command.hpp"
#include "record/writer.hpp"

using namespace effort;
using namespace effort::tools::test;
using Catch::Approx;
using nlohmann::json;

namespace {

/// Four ranks on two nodes; with `matrix`, each node's part of a communication matrix.
std::vector<std::byte> snapshot(bool matrix) {
  record::Run run;
  run.version = "0.1.0";
  run.name = "app";
  run.job = "7";
  run.place(std::vector<std::int32_t>{0, 0, 1, 1});
  run.steps = 10;
  run.load_metric = "time";
  run.metrics = {{"time", "s"}};
  run.wall_seconds = 10;
  run.own_cpu_seconds = {0.25, 0.25};
  run.own_bytes = {1024, 1024};
  std::vector<std::vector<std::byte>> parts;
  for (std::int32_t node = 0; node < 2 && matrix; ++node) {
    record::NodePart part;
    part.node = node;
    if (node == 0)
      part.traffic = {{"MPI_Send [app+0x10]"}, {{0, 0, 1, 0, 3, 300, 0.5}, {1, 0, 1, 0, 2, 200, 0.25}}};
    else
      part.traffic = {{"MPI_Recv [app+0x20]", "MPI_Send [app+0x10]"},
                      {{0, 1, 2, 0, 0, 0, 1.5}, {0, 1, 2, 1, 4, 4000, 0.125, 10}, {1, 2, 1, 1, 1, 8, 0.0625}}};
    parts.push_back(record::encode_part(part));
  }
  return record::encode(run, parts);
}

}  // namespace

TEST_CASE("the matrix of a snapshot, over windows and nodes") {
  const Scratch scratch;
  scratch.write("run.effort", snapshot(true));
  const json matrix = scratch.run({"comm", "matrix", "--json", "--raw-names", "run.effort"}).json()["matrix"];
  REQUIRE(matrix.size() == 4);
  CHECK(matrix[0] == json({{"a", 0},
                           {"b", 1},
                           {"path", "MPI_Send [app+0x10]"},
                           {"messages", 5.0},
                           {"bytes", 500.0},
                           {"seconds", 0.75},
                           {"sizes", json::array()}}));
  CHECK(matrix[1]["a"] == 1);
  const json large({{"least", 512}, {"most", 1023}, {"messages", 4}});
  CHECK(
      std::any_of(matrix.begin(), matrix.end(), [&](const json& row) { return row["sizes"] == json::array({large}); }));
  CHECK(matrix[3]["a"] == 2);

  const json pairs = scratch.run({"comm", "pairs", "--json", "run.effort"}).json();
  REQUIRE(pairs["pairs"].size() == 2);
  const json& second = pairs["pairs"][1];
  CHECK(second["a"] == 1);
  CHECK(second["b"] == 2);
  CHECK(second["messages"] == 5);
  CHECK(second["bytes"] == 4008);
  CHECK(second["calls_ns"] == 1'687'500'000);
  CHECK(second["same_node"] == false);
  CHECK(pairs["time_of"] == "calls");
  CHECK(pairs["linkage"].size() == 3);
  CHECK(pairs["linkage"][2][2].get<double>() == Approx(2 * 1.0 / 750'000'000));
  CHECK(scratch.run({"comm", "pairs", "--pair", "0,1", "run.effort"}).code == 2);

  const json waits = scratch.run({"comm", "waits", "--json", "run.effort"}).json();
  CHECK(waits["totals_ns"].is_null());
  CHECK(waits["communication_seconds"][2].get<double>() == Approx(1.6875));
  CHECK(scratch.run({"comm", "waits", "run.effort"}).out.find("rank 1: 2.44 s") != std::string::npos);
}

TEST_CASE("a snapshot without a matrix says how to get one") {
  const Scratch scratch;
  scratch.write("run.effort", snapshot(false));
  for (const std::string what : {"waits", "pairs", "matrix"}) {
    const Outcome outcome = scratch.run({"comm", what, "run.effort"});
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find("EFFORT_COMM_MATRIX=1") != std::string::npos);
    CHECK(outcome.err.find("effort comm " + what) != std::string::npos);
  }
}
