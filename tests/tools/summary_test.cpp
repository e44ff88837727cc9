// The summary at the top of the report. It is the same from the coarser approximation that is read if a run is too
// large for memory.
#include "tools/report/report_summary.hpp"

#include <catch2/catch_session.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "golden_run.hpp"
#include "record/reader.hpp"

using namespace effort;
using namespace effort::tools;
using effort::record::test::golden_file;

namespace {

RunSummary summary_of(const std::vector<std::byte>& file, std::size_t most_values) {
  record::Reader reader(file, "summary.effort");
  const record::SeriesReader series(reader);
  std::size_t done = 0;
  RunSummary out = summarise(
      reader.run(), series, [&] { ++done; }, most_values);
  CHECK(done == reader.run().series.size());
  return out;
}

double mean(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("a run that is too large for memory is summarized from a coarser level") {
  const std::vector<std::byte> file = golden_file(false);
  const RunSummary whole = summary_of(file, 1 << 20);
  const std::size_t most = GENERATE(479, 200, 40, 8, 1);
  const RunSummary coarse = summary_of(file, most);
  INFO("at most " << most << " values: level " << coarse.load.level);
  CHECK(whole.load.level == 0);
  CHECK(coarse.load.level > 0);
  // Approximations keep means, and they can only flatten peaks, apart from overshoot at borders.
  CHECK(std::abs(coarse.load.mean_path / whole.load.mean_path - 1) < 0.05);
  CHECK(coarse.load.critical_path < 1.1 * whole.load.critical_path);
  CHECK(coarse.load.critical_path > 0.9 * coarse.load.mean_path);
  REQUIRE(coarse.load.rank_total.size() == record::test::golden_ranks);
  CHECK(std::abs(mean(coarse.load.rank_total) / mean(whole.load.rank_total) - 1) < 0.05);
  CHECK(coarse.load.steps_per_bin % (std::int64_t{1} << coarse.load.level) == 0);
  CHECK(coarse.load.mean.size() == coarse.load.max.size());
  CHECK(coarse.load.mean.size() == coarse.load.worst_rank.size());
  CHECK(static_cast<std::int64_t>(coarse.load.mean.size()) * coarse.load.steps_per_bin >= record::test::golden_steps);
  for (const std::int32_t rank : coarse.load.worst_rank) CHECK((rank >= 0 && rank < record::test::golden_ranks));
  REQUIRE(coarse.series.size() == whole.series.size());
  for (std::size_t s = 0; s < whole.series.size(); ++s) {
    REQUIRE(coarse.series[s].coarse.size() == std::size_t{coarse.series[s].rows} * coarse.series[s].cols);
    CHECK(std::abs(mean(coarse.series[s].coarse) / mean(whole.series[s].coarse) - 1) < 0.1);
  }
  CHECK(coarse.shape_series == whole.shape_series);
}

TEST_CASE("loads of steps are shown as measured, not as approximated by the histories") {
  const std::vector<std::byte> file = golden_file(false);
  record::Reader reader(file, "summary.effort");
  const record::SeriesReader series(reader);
  const std::vector<double> truth = record::test::golden_step_loads();
  for (const std::size_t most : {std::size_t{1} << 20, std::size_t{40}}) {
    RunSummary summary = summarise(
        reader.run(), series, [] {}, most);
    CHECK_FALSE(summary.load.exact);
    const std::size_t bins = summary.load.mean.size();
    use_step_loads(summary.load, reader.run(), series);
    CHECK(summary.load.exact);
    CHECK(summary.load.critical_path == reader.run().critical_path);
    CHECK(summary.load.mean_path == reader.run().mean_path);
    REQUIRE(summary.load.mean.size() == bins);
    REQUIRE(summary.load.max.size() == bins);
    const auto per_bin = static_cast<std::size_t>(summary.load.steps_per_bin);
    for (std::size_t k = 0; k < bins; ++k) {
      const auto begin = truth.begin() + static_cast<std::ptrdiff_t>(k * per_bin),
                 end = truth.begin() + static_cast<std::ptrdiff_t>(
                                           std::min<std::size_t>((k + 1) * per_bin, record::test::golden_steps));
      const double largest = std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
      CHECK(std::abs(summary.load.max[k] / largest - 1) < 0.01);
      CHECK(summary.load.max[k] >= summary.load.mean[k]);
    }
  }
}

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return Catch::Session().run(argc, argv);
}
