#include "tests/unit/analytics/window/run.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstring>

using namespace effort;
using namespace effort::window;
using namespace effort::window::test;
using Catch::Approx;

namespace {

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

// Rank 0 of n carries `factor` times the load of the others, in region 1.
Run heavy_rank(int n, double factor) {
  Run run;
  run.n_ranks = n;
  run.load = [factor](int g, int r, std::int64_t) { return g == 1 && r == 0 ? factor - 0.5 : 0.5; };
  return run;
}

}  // namespace

TEST_CASE("an overloaded rank is reported with its region's imbalance", "[window]") {
  const auto results = analyze(heavy_rank(8, 3.0), windows_of_ten(), 2, 1);
  const Result& r = results[0][0];
  REQUIRE_FALSE(r.failed);
  REQUIRE(r.load.size() == 8);
  CHECK(r.load[0] == Approx(3.0));
  CHECK(r.load[7] == Approx(1.0));
  CHECK(r.imbalance == Approx(3.0 / 1.25 - 1));
  CHECK(r.gain_per_step == Approx(3.0 - 1.25));
  CHECK(r.rebalance == 1);
  CHECK((r.advice & advice_no_price) != 0);
  CHECK(r.rebalance_cost < 0);
  CHECK(r.worst_rank == 0);
  CHECK(r.load_balance == Approx(1.25 / 3.0));
  CHECK(r.ideal_saving == Approx(1.75 / 3.0));
}

TEST_CASE("results are identical on all nodes and for any number of nodes", "[window]") {
  Run run;
  run.n_ranks = 24;
  run.n_units = 2;
  run.work = [](int u, int r, std::int64_t s) {
    return 10 + 0.5 * r + static_cast<double>(s * (r % 3)) * (u + 1) / 50;
  };
  run.load = [&](int g, int r, std::int64_t s) { return 0.1 * run.work(g, r, s) + 0.01 * noise(r, s, g); };
  Settings settings = windows_of_ten();
  settings.initial_price = 3;
  const auto one = analyze(run, settings, 1, 6);
  for (int nodes : {2, 3, 5}) {
    const auto many = analyze(run, settings, nodes, 6);
    for (int node = 0; node < nodes; ++node)
      for (int w = 0; w < 6; ++w) {
        const Result &a = many[0][w], &b = many[node][w], &c = one[0][w];
        CHECK(same_bits(a.load, b.load));
        CHECK(same_bits(a.predicted, b.predicted));
        CHECK(std::memcmp(&a.imbalance, &b.imbalance, sizeof(double)) == 0);
        CHECK(std::memcmp(&a.expected_saving, &b.expected_saving, sizeof(double)) == 0);
        CHECK(a.rebalance == b.rebalance);
        CHECK(a.advice == b.advice);
        CHECK(same_bits(a.load, c.load));
        CHECK(same_bits(a.predicted, c.predicted));
        CHECK(same_bits(a.stratum_region_load, c.stratum_region_load));
        CHECK(std::memcmp(&a.prediction_error, &c.prediction_error, sizeof(double)) == 0);
        CHECK(std::memcmp(&a.expected_saving, &c.expected_saving, sizeof(double)) == 0);
        CHECK(std::memcmp(&a.worst_region_share, &c.worst_region_share, sizeof(double)) == 0);
        CHECK(std::memcmp(&a.parallel_efficiency, &c.parallel_efficiency, sizeof(double)) == 0);
        CHECK(std::memcmp(&a.ideal_saving, &c.ideal_saving, sizeof(double)) == 0);
        CHECK(a.rebalance == c.rebalance);
      }
  }
}

TEST_CASE("a window begins with the first step after a rebalance if enough steps are left", "[window]") {
  Run run = heavy_rank(8, 3.0);
  run.load = [](int g, int r, std::int64_t s) { return g == 1 && r == (s <= 11 ? 0 : 3) ? 2.5 : 0.5; };
  const auto results = analyze(run, windows_of_ten(), 2, 3, [](int w) {
    return w == 1 ? std::vector<Rebalance>{{11, 0.001}} : std::vector<Rebalance>{};
  });
  const Result& cut = results[1][1];
  CHECK(cut.first == 12);
  CHECK(cut.last == 19);
  CHECK((cut.advice & advice_stale) == 0);
  CHECK(cut.load[0] == Approx(1.0));
  CHECK(cut.load[3] == Approx(3.0));
  CHECK(cut.rebalance == 1);
  CHECK(results[1][2].first == 20);
}

TEST_CASE("a look without a step of the current distribution recommends nothing", "[window]") {
  const auto results = analyze(heavy_rank(8, 3.0), windows_of_ten(), 2, 4, [](int w) {
    return w == 1 ? std::vector<Rebalance>{{19, 0.001}} : std::vector<Rebalance>{};
  });
  CHECK(results[0][0].rebalance == 1);
  CHECK(results[0][1].rebalance == 0);
  CHECK(results[0][1].first == 10);
  CHECK((results[0][1].advice & advice_stale) != 0);
  CHECK((results[0][2].advice & advice_stale) == 0);
  CHECK(results[0][2].first == 20);
  CHECK(results[0][2].rebalance == 1);
  CHECK(results[0][2].rebalance_cost == Approx(0.001));
}

TEST_CASE("slower steps after all rebalances belong to their price; after a single one they do not", "[window]") {
  Run run = heavy_rank(8, 3.0);
  int slow = 0;
  run.load = [&slow](int g, int r, std::int64_t s) {
    return (g == 1 && r == 0 ? 2.5 : 0.5) + (s >= 12 && s % 10 == 2 && s < 12 + 10 * slow ? 4.0 : 0.0);
  };
  const auto price = [&] {
    return analyze(run, windows_of_ten(), 2, 7,
                   [](int w) {
                     return std::vector<Rebalance>{{10 * w + 1, 0.5}};
                   })[0][6]
        .rebalance_cost;
  };
  slow = 1;
  CHECK(price() == Approx(0.5));
  slow = 6;
  CHECK(price() == Approx(1.0));  // they count up to the amount of the price itself
}

TEST_CASE("bad input on one node switches all nodes off together", "[window]") {
  std::vector<Result> first(3), second(3);
  run_thread_group(3, [&](Communicator& comm) {
    Analyzer analyzer{windows_of_ten()};
    const Run run = heavy_rank(6, 2.0);
    Slice slice(run, comm.rank(), 3, 0, 10);
    if (comm.rank() == 1) slice.rank[3] = std::nan("");
    first[comm.rank()] = analyze(analyzer, comm, slice.input);
    Slice good(run, comm.rank(), 3, 10, 10);
    second[comm.rank()] = analyze(analyzer, comm, good.input);
    CHECK(std::strlen(analyzer.failure()) > 0);
  });
  for (int node = 0; node < 3; ++node) {
    CHECK(first[node].failed);
    CHECK(second[node].failed);
  }
}

TEST_CASE("settings out of range are refused by name", "[window]") {
  Settings settings = windows_of_ten();
  settings.window = -1;
  REQUIRE_THROWS_AS(Analyzer(settings), std::invalid_argument);
}
