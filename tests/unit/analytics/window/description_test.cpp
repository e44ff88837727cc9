// Strata, worst regions and unit costs of the whole analysis.
#include "tests/unit/analytics/window/run.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>

using namespace effort;
using namespace effort::window;
using namespace effort::window::test;
using Catch::Approx;

TEST_CASE("strata group similar ranks and keep their numbers", "[window]") {
  Run run;
  run.n_ranks = 30;
  run.load = [](int g, int r, std::int64_t s) { return (r % 3 == g ? 5.0 : 1.0) + 0.01 * noise(r, s, g); };
  Settings settings = windows_of_ten();
  settings.strata = 3;
  const auto results = analyze(run, settings, 3, 3);
  for (const Result& r : results[0]) {
    REQUIRE(r.strata == 3);
    for (int rank = 0; rank < 30; ++rank) CHECK(r.stratum[rank] == r.stratum[rank % 3]);
    CHECK(r.stratum == results[2][2].stratum);
    for (int k = 0; k < 3; ++k) CHECK(r.stratum[r.medoid_rank[k]] == k);
    REQUIRE(r.stratum_region_load.size() == 6);
    const int first = r.stratum[0];
    CHECK(r.stratum_region_load[2 * first] == Approx(5.0).epsilon(0.01));
    CHECK(r.stratum_region_load[2 * first + 1] == Approx(1.0).epsilon(0.01));
    CHECK(r.samples_unified > r.samples_stratified);
  }
}

TEST_CASE("strata of wavelet approximations agree with exact ones if neighbours are similar", "[window]") {
  Run run;
  run.n_ranks = 64;
  run.load = [](int g, int r, std::int64_t s) { return (r < 32) == (g == 0) ? 5.0 + 0.01 * noise(r, s) : 1.0; };
  Settings settings = windows_of_ten();
  settings.strata = 2;
  settings.strata_level = 2;
  settings.strata_check = true;
  const auto results = analyze(run, settings, 2, 1);
  CHECK(results[0][0].strata == 2);
  CHECK(results[0][0].strata_agreement > 0.95);
  for (int rank = 0; rank < 64; ++rank) CHECK(results[0][0].stratum[rank] == results[0][0].stratum[rank < 32 ? 0 : 63]);
}

TEST_CASE("the worst region and its share are named", "[window]") {
  Run run;
  run.n_regions = 3;
  run.load = [](int g, int r, std::int64_t) { return r == 5 && g == 2 ? 4.0 : (r == 5 && g == 1 ? 2.0 : 1.0); };
  const Result r = analyze(run, windows_of_ten(), 2, 1)[1][0];
  CHECK(r.worst_rank == 5);
  CHECK(r.worst_region == 2);
  CHECK(r.worst_region_share == Approx(0.75));
}

TEST_CASE("unit costs and node speeds are fitted from measured loads", "[window]") {
  Run run;
  run.n_ranks = 16;
  run.n_units = 2;
  run.work = [](int u, int r, std::int64_t s) {
    return u == 0 ? 1000.0 + 50 * r + 3 * s : 200.0 + 40 * ((r * 7) % 16);
  };
  run.load = [&](int g, int r, std::int64_t s) {
    const double speed = r >= 12 ? 1.5 : 1.0;  // the last of four nodes is slow
    return speed * (g == 0 ? 1e-6 : 5e-6) * run.work(g, r, s) * (1 + 0.05 * noise(r, s, g));
  };
  const auto results = analyze(run, windows_of_ten(), 4, 4);
  const Result& r = results[2][3];
  REQUIRE(r.unit_cost.size() == 2);
  CHECK(r.unit_cost[0] == Approx(1e-6).epsilon(0.03));
  CHECK(r.unit_cost[1] == Approx(5e-6).epsilon(0.03));
  CHECK(r.unit_cost_error[0] > 0);
  CHECK(r.speed[0] == 1.0);
  CHECK(r.speed[15] == Approx(1.5).epsilon(0.03));
  CHECK((r.advice & advice_slow_node) != 0);
  CHECK((r.advice & advice_collinear_units) == 0);
}

TEST_CASE("a slow rank gets its own speed, and its node keeps that of the others", "[window]") {
  Run run;
  run.n_ranks = 16;
  run.n_units = 1;
  run.n_regions = 1;
  run.work = [](int, int r, std::int64_t s) { return 1000.0 + 50 * r + 3 * static_cast<double>(s % 17); };
  run.load = [&](int g, int r, std::int64_t s) {
    return (r == 5 ? 1.6e-6 : 1e-6) * run.work(g, r, s) * (1 + 0.03 * noise(r, s));
  };
  for (int nodes : {1, 2, 4}) {
    const Result r = analyze(run, windows_of_ten(), nodes, 4)[0][3];
    CHECK(r.unit_cost[0] == Approx(1e-6).epsilon(0.01));
    for (int rank = 0; rank < 16; ++rank) CHECK(r.speed[rank] == Approx(rank == 5 ? 1.6 : 1.0).epsilon(0.02));
    CHECK((r.advice & advice_slow_node) == 0);
  }
}

TEST_CASE("a clock that stops does not change costs", "[window]") {
  Run run;
  run.n_ranks = 8;
  run.n_units = 1;
  run.n_regions = 1;
  run.work = [](int, int r, std::int64_t s) { return 100.0 + r + static_cast<double>(s % 7); };
  run.load = [&](int, int r, std::int64_t s) { return r == 2 && s >= 20 ? 0.0 : 0.01 * run.work(0, r, s); };
  const Result r = analyze(run, windows_of_ten(), 2, 4)[1][3];
  CHECK(r.unit_cost[0] == Approx(0.01).epsilon(1e-9));
  CHECK(r.load[2] == 0);
}

TEST_CASE("huge amounts leave costs unknown and do no harm", "[window]") {
  Run run;
  run.n_units = 1;
  for (double amount : {1e200, 1e130}) {  // squares overflow, or only nearly
    run.work = [amount](int, int, std::int64_t) { return amount; };
    const auto results = analyze(run, windows_of_ten(), 2, 2);
    for (const auto& node : results) {
      REQUIRE_FALSE(node[1].failed);
      CHECK(node[1].unit_cost[0] == -1);
      CHECK(node[1].speed[3] == 1.0);
    }
  }
}

TEST_CASE("drifting costs are followed, and their errors cover the next window", "[window]") {
  Run run;
  run.n_ranks = 16;
  run.n_regions = run.n_units = 1;
  const auto cost = [](std::int64_t s) { return 1e-6 * (1 + 0.02 * static_cast<double>(s / 10)); };
  run.work = [](int, int r, std::int64_t s) { return 1000.0 + 50 * r + 3 * static_cast<double>(s % 17); };
  run.load = [&](int, int r, std::int64_t s) { return cost(s) * run.work(0, r, s) * (1 + 0.02 * noise(r, s)); };
  const auto results = analyze(run, windows_of_ten(), 2, 12)[0];
  for (int w = 3; w < 11; ++w) {
    CHECK(results[w].unit_cost[0] == Approx(cost(10 * w)).epsilon(0.006));
    CHECK(std::fabs(results[w].unit_cost[0] - cost(10 * (w + 1))) < 2 * results[w].unit_cost_error[0]);
    CHECK(results[w].unit_cost_error[0] < 0.04 * results[w].unit_cost[0]);
  }
}

TEST_CASE("costs of units that always occur together are reported as unknown", "[window]") {
  Run run;
  run.n_units = 2;
  run.work = [](int u, int r, std::int64_t) { return (u + 1) * (100.0 + r); };
  run.load = [](int, int r, std::int64_t) { return 1e-3 * (100 + r); };
  const Result r = analyze(run, windows_of_ten(), 2, 2)[0][1];
  CHECK((r.advice & advice_collinear_units) != 0);
  CHECK(r.unit_cost[0] == -1);
  CHECK(r.unit_cost[1] == -1);
}

TEST_CASE("zero work with time and ranks without work leave the other costs right", "[window]") {
  Run run;
  run.n_units = 1;
  run.n_regions = 1;
  run.work = [](int, int r, std::int64_t s) { return r == 3 || s % 4 == 0 ? 0.0 : 10.0 + r; };
  run.load = [&](int, int r, std::int64_t s) {
    return r == 3 ? 0.5 : 0.01 * run.work(0, r, s) + (s % 4 == 0 ? 0.1 : 0);
  };
  const Result r = analyze(run, windows_of_ten(), 2, 2)[0][1];
  CHECK(r.unit_cost[0] == Approx(0.01).epsilon(1e-6));
  CHECK(r.unit_cost_error[0] < 1e-5);  // omitted work does not count as noise either
}

TEST_CASE("huge amounts of work leave costs unknown and the rest right", "[window]") {
  Run run;
  run.n_units = 1;
  run.work = [](int, int r, std::int64_t) { return 1e119 * (10 + r); };  // sums of squares near 1e241
  run.load = [](int, int r, std::int64_t) { return 1.0 + r; };
  const Result r = analyze(run, windows_of_ten(), 2, 2)[0][1];
  REQUIRE_FALSE(r.failed);
  CHECK(r.unit_cost[0] == -1);
  for (int rank = 0; rank < run.n_ranks; ++rank) CHECK(r.speed[rank] == 1.0);
  CHECK(r.load[7] == Approx(16.0));
}

TEST_CASE("costs are right in the first window with new regions and units of work", "[window]") {
  Run before, after;
  before.n_regions = before.n_units = 1;
  before.work = [](int, int r, std::int64_t s) { return 5.0 + (r + 3 * s) % 7; };
  before.load = [&](int, int r, std::int64_t s) { return 0.5 * before.work(0, r, s); };
  after.n_regions = 3;
  after.n_units = 2;
  after.work = [](int u, int r, std::int64_t s) { return 5.0 + (u == 0 ? (r + 3 * s) % 7 : (2 * r + s) % 5); };
  after.load = [&](int g, int r, std::int64_t s) { return g == 2 ? 0.0 : 0.01 * (g + 1) * after.work(g, r, s); };
  run_thread_group(2, [&](Communicator& comm) {
    Analyzer analyzer{windows_of_ten()};
    Result r;
    for (int w = 0; w < 3; ++w)
      r = analyze(analyzer, comm, Slice(w < 2 ? before : after, comm.rank(), 2, 10 * w, 10).input);
    if (comm.rank() > 0) return;  // checks come from one thread
    REQUIRE(r.unit_cost.size() == 2);
    CHECK(r.unit_cost[0] == Approx(0.01).epsilon(1e-6));
    CHECK(r.unit_cost[1] == Approx(0.02).epsilon(1e-6));
  });
}
