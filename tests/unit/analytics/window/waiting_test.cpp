// The ranks that others wait for, and whether the loads explain it.
#include "tests/unit/analytics/window/run.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <utility>

using namespace effort;
using namespace effort::window;
using namespace effort::window::test;
using Catch::Approx;

namespace {

/// Eight ranks in steps of 4 s that end with a barrier: the last rank makes the others wait.
Run run_with(std::function<double(int rank, std::int64_t step)> load, double transfer) {
  Run run;
  run.load = [load](int g, int r, std::int64_t s) { return g == 0 ? 1.0 : load(r, s) - 1; };
  run.wall = [](int, std::int64_t) { return 4.0; };
  run.wait = [load](int r, std::int64_t s) { return 4 - load(r, s); };
  run.delay = [load](int r, std::int64_t s) {
    double delay = 0;
    for (int q = 0; q < 8; ++q) {
      if (load(q, s) > load(r, s)) return 0.0;
      delay += load(r, s) - load(q, s);
    }
    return delay;
  };
  run.transfer = [transfer](int r, std::int64_t) { return transfer + 0.1 * r; };
  return run;
}

}  // namespace

TEST_CASE("the delay of an overloaded rank is its load's, in the region of its excess", "[window]") {
  const Run run = run_with([](int r, std::int64_t) { return r == 5 ? 3.0 : 2.0; }, 0.0);
  for (const auto& node : analyze(run, windows_of_ten(), 3, 1)) {
    const Result& r = node[0];
    REQUIRE(r.delay.size() == 8);
    REQUIRE(r.delay_region.size() == 8);
    for (int rank = 0; rank < 8; ++rank) {
      CHECK(r.delay[rank] == Approx(rank == 5 ? 7.0 : 0.0));
      CHECK(r.delay_region[rank] == (rank == 5 ? 1 : -1));
    }
    CHECK(r.transfer_efficiency == 1);
    CHECK((r.advice & advice_transfer) == 0);
  }
}

TEST_CASE("waiting because of loads that alternate is not explained by the mean loads", "[window]") {
  const Run run = run_with([](int r, std::int64_t s) { return r == s % 2 ? 3.0 : 2.0; }, 0.0);
  const Result r = analyze(run, windows_of_ten(), 2, 1)[1][0];
  // 7 s a step, half for each.  The mean loads, 2.5 s, explain 0.5 s for six ranks, twice.
  CHECK(r.delay[0] == Approx(3.5));
  CHECK(r.delay[1] == Approx(3.5));
  CHECK((r.advice & advice_transfer) == 0);
  // If each of the ranks is the last in turn, every mean is the same.
  const Run noise = run_with([](int rank, std::int64_t s) { return rank == s % 5 ? 3.0 : 2.0; }, 0.0);
  const Result n = analyze(noise, windows_of_ten(), 2, 1)[0][0];
  CHECK(n.delay[4] == Approx(1.4));
  CHECK((n.advice & advice_transfer) != 0);
}

TEST_CASE("time in collectives without waiting is transfer", "[window]") {
  const Run run = run_with([](int, std::int64_t) { return 2.0; }, 1.0);
  const Result r = analyze(run, windows_of_ten(), 2, 1)[0][0];
  CHECK(r.transfer_efficiency == Approx(0.75));  // of rank 0, which has least
  CHECK((r.advice & advice_transfer) != 0);
}

TEST_CASE("without measured waits, the result contains none", "[window]") {
  Run run = run_with([](int r, std::int64_t) { return r == 5 ? 3.0 : 2.0; }, 0.0);
  run.delay = run.transfer = nullptr;
  const Result r = analyze(run, windows_of_ten(), 2, 1)[0][0];
  CHECK(r.delay.empty());
  CHECK(r.transfer_efficiency == -1);
}

TEST_CASE("a loss that nobody waits for causes no rebalance", "[window]") {
  const auto recommended = [](Run run, double communicates, double transfers) {
    run.wait = [communicates](int, std::int64_t) { return communicates; };
    run.transfer = [transfers](int, std::int64_t) { return transfers; };
    Settings settings = windows_of_ten();
    settings.initial_price = 1;
    int out = 0;
    // The first look comes before the first description.
    const auto results = analyze(run, settings, 3, 6);
    for (const auto& node : results)
      for (std::size_t w = 1; w < node.size(); ++w) out += node[w].rebalance ? 1 : 0;
    return out;
  };
  // The mean rank could wait for 0.5 s a step, but writes files for as long.
  Run run = run_with([](int r, std::int64_t) { return r < 4 ? 3.0 : 2.0; }, 0.0);
  CHECK(recommended(run, 0.5, 0.0) == 3 * 5);  // unless it is known that all meet, nothing follows
  run.synchronized_steps = true;
  CHECK(recommended(run, 0.5, 0.0) == 3 * 5);
  CHECK(recommended(run, 0.02, 0.0) == 0);
  CHECK(recommended(run, 0.5, 0.48) == 0);     // all of it is transfer
  CHECK(recommended(run, 0.0, 0.0) == 3 * 5);  // communication is not marked
}
