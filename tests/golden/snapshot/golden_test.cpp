// Files written earlier, by this or an earlier version, still have the same contents.
#include <Kokkos_Core.hpp>

#include <catch2/catch_session.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "golden_run.hpp"
#include "record/reader.hpp"
#include "record/series.hpp"
#include "record/writer.hpp"

using namespace effort::record;
using namespace effort::record::test;

namespace {
const std::string file_1_0 = std::string(GOLDEN_DIRECTORY) + "/format-1.0.effort";
const std::string file_1_2 = std::string(GOLDEN_DIRECTORY) + "/format-1.2.effort";
const std::string file_1_3 = std::string(GOLDEN_DIRECTORY) + "/format-1.3.effort";
const std::string file_1_1 = std::string(GOLDEN_DIRECTORY) + "/format-1.1.effort";
}  // namespace

TEST_CASE("format 1.0: the description") {
  Reader reader{std::filesystem::path(file_1_0)};
  CHECK(reader.format_major() == 1);
  CHECK(reader.format_minor() == 0);
  CHECK_NOTHROW(reader.verify());
  const Run& run = reader.run();
  const Run expected = golden_run();
  CHECK(run.name == "golden");
  CHECK(run.ranks == 8);
  CHECK(run.nodes == 2);
  CHECK(run.steps == 60);
  CHECK(run.merged_steps == 3);
  CHECK(run.own_cpu_seconds_total() == 0.09375);
  REQUIRE(run.series.size() == expected.series.size());
  for (std::size_t i = 0; i < run.series.size(); ++i) {
    CHECK(run.series[i].region == expected.series[i].region);
    CHECK(run.series[i].kind == expected.series[i].kind);
    CHECK(std::abs(run.series[i].total - expected.series[i].total) <= 1e-12 * expected.series[i].total);
    CHECK(run.series[i].max_rank == expected.series[i].max_rank);
  }
  REQUIRE(run.windows.size() == 6);
  CHECK(run.windows[1].rebalanced_at == 22);
  CHECK(run.windows[3].imbalance == 0.875);
  CHECK(run.strata.at(0).label == expected.strata[0].label);
  CHECK(run.unit_costs.at(0).seconds_per_unit == 2e-7);
  CHECK(run.notes == expected.notes);
}

TEST_CASE("formats 1.0 and 1.2: the loads, within the stated error, or exact if they were also stored exactly") {
  const bool united = GENERATE(false, true);
  Reader reader{std::filesystem::path(united ? file_1_2 : file_1_0)};
  CHECK_NOTHROW(reader.verify());
  CHECK(reader.nodes() == (united ? std::vector<std::int32_t>{all_nodes} : std::vector<std::int32_t>{0, 1}));
  const SeriesReader series(reader);
  for (std::uint32_t region = 0; region < golden_regions; ++region) {
    const Grid grid = series.grid(region), exact = series.exact(region);
    REQUIRE(grid.rows() == golden_ranks);
    REQUIRE(grid.cols() == golden_steps);
    double squares = 0, least = 1e300, most = -1e300;
    for (int rank = 0; rank < golden_ranks; ++rank) {
      for (int step = 0; step < golden_steps; ++step) {
        const double truth = golden_load(static_cast<int>(region), rank, step);
        const std::size_t at = static_cast<std::size_t>(rank * golden_steps + step);
        squares += (grid.values[at] - truth) * (grid.values[at] - truth);
        least = std::min(least, truth);
        most = std::max(most, truth);
        if (step < golden_steps - 10) {
          CHECK(std::isnan(exact.values[at]));
        } else {
          CHECK(exact.values[at] == truth);
        }
      }
    }
    const double nrmse = std::sqrt(squares / (golden_ranks * golden_steps)) / (most - least);
    CHECK(nrmse <= series.nrmse(region));
    CHECK(series.nrmse(region) < 0.1);
    CHECK(nrmse > 0);
  }
}

TEST_CASE("format 1.0: approximations") {
  Reader reader{std::filesystem::path(file_1_0)};
  const SeriesReader series(reader);
  const Grid grid = series.grid(3, 2);
  // Node 0 has 5 ranks, node 1 has 3: rows of 4, 1 and 3 ranks; 60 steps in fours.
  CHECK(grid.first_rank == std::vector<std::int32_t>{0, 4, 5});
  CHECK(grid.rank_count == std::vector<std::int32_t>{4, 1, 3});
  REQUIRE(grid.cols() == 15);
  CHECK(grid.first_step[1] == 4);
  double coarse = 0, fine = 0;
  for (std::size_t c = 0; c < 15; ++c) coarse += grid.values[c] / 15;
  for (int rank = 0; rank < 4; ++rank) {
    for (int step = 0; step < golden_steps; ++step) fine += golden_load(3, rank, step) / (4 * golden_steps);
  }
  CHECK(std::abs(coarse / fine - 1) < 0.15);
}

TEST_CASE("format 1.2: approximations of the joint history of all nodes") {
  Reader reader{std::filesystem::path(file_1_2)};
  CHECK(reader.format_minor() == 2);
  const SeriesReader series(reader);
  const Grid grid = series.grid(3, 2);
  CHECK(grid.first_rank == std::vector<std::int32_t>{0, 4});
  CHECK(grid.rank_count == std::vector<std::int32_t>{4, 4});
  REQUIRE(grid.cols() == 15);
  for (const std::size_t row : {0u, 1u}) {
    double coarse = 0, fine = 0;
    for (std::size_t c = 0; c < 15; ++c) coarse += grid.values[row * 15 + c] / 15;
    for (int rank = 0; rank < 4; ++rank) {
      for (int step = 0; step < golden_steps; ++step)
        fine += golden_load(3, static_cast<int>(4 * row) + rank, step) / (4 * golden_steps);
    }
    CHECK(std::abs(coarse / fine - 1) < 0.15);
  }
}

TEST_CASE("format 1.1: modules and the communication matrix; none in a file of 1.0") {
  Reader reader{std::filesystem::path(file_1_1)};
  CHECK(reader.format_minor() == 1);
  CHECK_NOTHROW(reader.verify());
  REQUIRE(reader.run().modules.size() == 2);
  CHECK(reader.run().modules[0].path == "/opt/golden/bin/golden");
  CHECK(reader.run().modules[0].build_id == "00ff");
  CHECK(reader.traffic(0).flows.empty());
  const Traffic traffic = reader.traffic(1);
  CHECK(traffic.regions == std::vector<std::string>{"MPI_Send [golden+0x10]"});
  REQUIRE(traffic.flows.size() == 2);
  CHECK(traffic.flows[1].window == 5);
  CHECK(traffic.flows[1].source == 7);
  CHECK(traffic.flows[1].destination == 6);
  CHECK(traffic.flows[1].bytes == 1048576);
  Reader older{std::filesystem::path(file_1_0)};
  CHECK(older.run().modules.empty());
  CHECK(older.traffic(1).flows.empty());
}

TEST_CASE("format 1.3: the duration of every step") {
  Reader reader{std::filesystem::path(file_1_3)};
  CHECK(reader.format_minor() == 3);
  CHECK_NOTHROW(reader.verify());
  const std::vector<double> truth = golden_step_loads();
  const double critical = std::accumulate(truth.begin(), truth.begin() + golden_steps, 0.0),
               mean = std::accumulate(truth.begin() + golden_steps, truth.end(), 0.0);
  CHECK(std::abs(reader.run().critical_path - critical) <= 1e-12 * critical);
  CHECK(std::abs(reader.run().mean_path - mean) <= 1e-12 * mean);
  const StepLoads loads = SeriesReader(reader).step_loads();
  REQUIRE(loads.largest.size() == golden_steps);
  REQUIRE(loads.mean.size() == golden_steps);
  CHECK(loads.nrmse <= 1e-3);
  double squares = 0;
  for (std::size_t t = 0; t < golden_steps; ++t)
    squares += std::pow(loads.largest[t] - truth[t], 2) + std::pow(loads.mean[t] - truth[golden_steps + t], 2);
  const auto [least, most] = std::minmax_element(truth.begin(), truth.end());
  CHECK(std::sqrt(squares / static_cast<double>(truth.size())) <= loads.nrmse * (*most - *least));
}

TEST_CASE("files before 1.3 have no durations of steps") {
  Reader reader{std::filesystem::path(file_1_2)};
  CHECK(reader.run().critical_path == absent);
  CHECK(reader.run().mean_path == absent);
  CHECK(SeriesReader(reader).step_loads().largest.empty());
}

TEST_CASE("damaged loads of steps, and those of another run, are refused") {
  for (const bool other : {false, true}) {
    Run run = golden_run();
    if (other) {
      run.steps -= 1;
    } else {
      run.step_loads.at(run.step_loads.size() / 2) ^= std::byte{1};
    }
    Reader reader(encode(run, std::vector<std::vector<std::byte>>{}), "steps");
    CHECK_NOTHROW(reader.verify());
    CHECK_THROWS_AS(SeriesReader(reader).step_loads(), FormatError);
  }
}

TEST_CASE("files of this version are small") {
  for (const bool united : {false, true}) {
    const std::size_t bytes = golden_file(false, united).size();
    INFO(bytes << " bytes for 8 ranks x 60 steps x 8 regions");
    CHECK(bytes < 6000);
  }
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return Catch::Session().run(argc, argv);
}
