// Times and calls of regions that were measured on all ranks, in the estimates.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "population.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using Catch::Approx;
using effort::trace::Kind;
namespace sampling = effort::sampling;

TEST_CASE("the time of a region that was measured on all ranks is exact, whichever ranks are sampled") {
  const auto all = population();
  double truth = 0;
  for (const std::uint64_t draw : {1, 2, 3}) {
    Trace trace = sampled(all, draw);
    const CallEstimates before = estimate_calls(trace);
    CHECK(before.measured == 0);
    truth = 0;
    for (std::size_t w = 0; w < all.size(); ++w) {
      double seconds = 0;
      for (const Work& work : all[w]) seconds += 1e-9 * static_cast<double>(work.solve_ns);
      trace.windows[w].region_seconds = {{region_solve, seconds}};
      truth += seconds;
    }
    const CallEstimates after = estimate_calls(trace);
    CHECK(after.measured == n_windows);
    CHECK(find(after, "step/solve").seconds.total == Approx(truth));
    CHECK(find(after, "step/solve").seconds.half_width(0.9) == 0);
    CHECK(find(before, "step/solve").seconds.half_width(0.9) > 0);
    CHECK(find(after, "step/solve").count.total == find(before, "step/solve").count.total);  // not measured
    // The time of the enclosing region was not measured and keeps its interval.  Its inclusive time becomes more
    // precise.
    CHECK(find(after, "step").seconds.variance == find(before, "step").seconds.variance);
    const double gained = truth - find(before, "step/solve").seconds.total;
    CHECK(find(after, "step").inclusive.total == Approx(find(before, "step").inclusive.total + gained));
    CHECK(find(after, "step").inclusive.variance < 0.5 * find(before, "step").inclusive.variance);
  }
  // In one window the time was not measured, so the interval is that of this window.
  Trace trace = sampled(all, 1);
  const double whole = find(estimate_calls(trace), "step/solve").seconds.variance;
  for (std::size_t w = 1; w < all.size(); ++w) trace.windows[w].region_seconds = {{region_solve, 1e-3}};
  const sampling::Estimate partly = find(estimate_calls(trace), "step/solve").seconds;
  CHECK(partly.variance > 0);
  CHECK(partly.variance < 0.6 * whole);
  CHECK(partly.total == Approx(3e-3).epsilon(0.1));
}

namespace {

/// Each rank calls a region in two places.  Both times are proportional to a random factor of the rank.
Trace two_places(std::uint64_t draw, bool measured, double& truth) {
  std::mt19937_64 random(9);
  std::vector<std::pair<std::int64_t, std::int64_t>> ranks;
  std::int64_t inside = 0, all = 0;
  for (int i = 0; i < 60; ++i) {
    const auto factor = static_cast<std::int64_t>(1 + random() % 8);
    ranks.emplace_back(factor * static_cast<std::int64_t>(300 + random() % 50),
                       factor * static_cast<std::int64_t>(600 + random() % 50));
    inside += ranks.back().first;
    all += ranks.back().first + ranks.back().second;
  }
  truth = 1e-9 * static_cast<double>(inside);
  Trace trace = empty_trace(60);
  TraceWindow& window = add_window(trace, 0, 0, 100'000);
  window.strata = {{60, 10}};
  if (measured) window.region_seconds = {{region_waitall, 1e-9 * static_cast<double>(all)}};
  for (const std::int32_t i : effort::sampling::draw_without_replacement(60, 10, draw, 1)) {
    const auto [in, out] = ranks[static_cast<std::size_t>(i)];
    Events e(0);
    e.step(0).enter(region_solve).enter(region_waitall).wait(in).leave(region_waitall).leave(region_solve);
    e.enter(region_waitall).wait(out).leave(region_waitall);
    keep(trace, i, why::reason_sample, 10.0 / 60, 0, e);
  }
  return trace;
}

}  // namespace

TEST_CASE("the measured time of a region is divided among its call paths, and the intervals cover the truth") {
  double coverage = 0, width[2] = {0, 0}, truth = 0;
  constexpr int draws = 600;
  for (int i = 0; i < draws; ++i) {
    for (const bool measured : {false, true}) {
      const CallEstimates e = estimate_calls(two_places(static_cast<std::uint64_t>(i), measured, truth));
      const sampling::Estimate inner = find(e, "solve/MPI_Waitall").seconds;
      width[measured] += inner.half_width(0.9) / draws;
      if (!measured) continue;
      coverage += (std::abs(inner.total - truth) <= inner.half_width(0.9) ? 1.0 : 0.0) / draws;
      CHECK(inner.total + find(e, "MPI_Waitall").seconds.total == Approx(3 * truth).epsilon(0.2));
    }
  }
  CAPTURE(coverage, width[0], width[1]);
  CHECK(coverage > 0.86);
  CHECK(width[1] < 0.3 * width[0]);
}

TEST_CASE("a measured time is not used if it covers more or less than the calls in the trace") {
  const auto seconds = [](Trace trace, std::uint32_t region, const char* path) {
    trace.windows[0].region_seconds = {{region, 1.0}};
    return find(estimate_calls(trace), path).seconds;
  };
  const auto one = [](const Events& events) {
    Trace trace = empty_trace(3);
    add_window(trace, 0, 0, 1000).strata = {{3, 2}};
    keep(trace, 0, why::reason_sample, 2.0 / 3, 0, events);
    keep(trace, 2, why::reason_sample, 2.0 / 3, 0, events);
    return trace;
  };
  Events solve(0);
  solve.step(0).enter(region_solve).wait(60).leave(region_solve);
  CHECK(seconds(one(solve), region_solve, "solve").total == Approx(1));
  // Several threads: the busiest one may have been measured.
  Trace threads = one(solve);
  keep(threads, 2, why::reason_sample, 2.0 / 3, 0, solve, 1);
  CHECK(seconds(threads, region_solve, "solve").total == Approx(270e-9));
  // What the region around a rebalance spends on it is not part of its measured time.
  Events rebalance(0);
  rebalance.step(0).enter(region_solve).wait(60).add(Kind::rebalance, 0).leave(region_solve);
  CHECK(seconds(one(rebalance), region_solve, "solve").total == Approx(180e-9));
  // Brief gaps between polls are measured as part of the poll.
  Events poll(0);
  poll.step(0).enter(region_solve).wait(60).leave(region_solve);
  Trace polls = one(poll);
  for (const char* name : {"MPI_Test", "mpi_testall_", "MPI_Iprobe [app+0x1]"}) {
    polls.regions[region_solve].name = name;
    CHECK(seconds(polls, region_solve, name).total == Approx(180e-9));
  }
  // An MPI call in a region that communicates is measured as part of it, one in a region that computes is not.
  Events call(0);
  call.step(0).enter(region_solve).wait(10).enter(region_send).wait(30).leave(region_send).leave(region_solve);
  for (const bool communicates : {false, true}) {
    Trace trace = one(call);
    trace.regions[region_solve].kind = communicates ? 1 : 0;
    CHECK(seconds(trace, region_solve, "solve").total == Approx(communicates ? 0.25 : 1));
    CHECK(seconds(trace, region_solve, "solve/MPI_Send").total == Approx(communicates ? 0.75 : 90e-9));
    // The history does not count it as a call of its own either.
    trace.windows[0].region_calls = {{region_send, 12}};
    CHECK(find(estimate_calls(trace), "solve/MPI_Send").count.total == (communicates ? 3 : 12));
  }
}

TEST_CASE("the calls of a region that were counted on all ranks are exact, or divided among its call paths") {
  constexpr int ranks = 40, drawn = 8;
  double inside = 0, outside = 0;
  const auto calls_of = [](int rank, bool inner) { return 1 + (rank * (inner ? 7 : 5) + 3) % (inner ? 11 : 6); };
  for (int r = 0; r < ranks; ++r) inside += calls_of(r, true), outside += calls_of(r, false);
  double coverage = 0;
  constexpr int draws = 300;
  for (int i = 0; i < draws; ++i) {
    Trace trace = empty_trace(ranks);
    TraceWindow& window = add_window(trace, 0, 0, 100'000);
    window.strata = {{ranks, drawn}};
    window.region_calls = {{region_solve, inside}, {region_waitall, inside + outside}};
    for (const std::int32_t r :
         effort::sampling::draw_without_replacement(ranks, drawn, static_cast<std::uint64_t>(i), 1)) {
      Events e(0);
      e.step(0);
      for (int n = calls_of(r, true); n > 0; --n)
        e.enter(region_solve).enter(region_waitall).wait(5).leave(region_waitall).leave(region_solve);
      for (int n = calls_of(r, false); n > 0; --n) e.enter(region_waitall).wait(5).leave(region_waitall);
      keep(trace, r, why::reason_sample, static_cast<double>(drawn) / ranks, 0, e);
    }
    const CallEstimates e = estimate_calls(trace);
    CHECK(e.counted == 1);
    CHECK(e.measured == 0);
    CHECK(find(e, "solve").count.total == Approx(inside));
    CHECK(find(e, "solve").count.half_width(0.9) == 0);
    const sampling::Estimate inner = find(e, "solve/MPI_Waitall").count;
    CHECK(inner.total + find(e, "MPI_Waitall").count.total == Approx(inside + outside));
    coverage += (std::abs(inner.total - inside) <= inner.half_width(0.9) ? 1.0 : 0.0) / draws;
  }
  CHECK(coverage > 0.85);
  CHECK(coverage < 1);
}

TEST_CASE("a region that no sampled rank called has a known time and number of calls") {
  Trace trace = sampled(population(), 3);
  std::int32_t other = 69;
  while (trace.windows.back().find(other) != nullptr) --other;
  keep(trace, other, why::reason_outlier, 0.4, 2,
       Events(35'000)
           .enter(region_reduce)
           .wait(30)
           .leave(region_reduce)
           .enter(region_step)
           .enter(region_reduce)
           .wait(10)
           .leave(region_reduce)
           .leave(region_step));
  for (TraceWindow& window : trace.windows) {
    window.region_seconds = {{region_reduce, 1.0}, {region_waitall, 5.0}};
    window.region_calls = {{region_reduce, 6}};
  }
  const CallEstimates estimates = estimate_calls(trace);
  const CallEstimate& alone = find(estimates, "MPI_Reduce");
  CHECK_FALSE(alone.sampled);
  CHECK(alone.timed);
  CHECK(alone.counted);
  CHECK(alone.count.total == Approx(4 * 3));
  CHECK(alone.count.half_width(0.9) > 1);
  CHECK(alone.seconds.total == Approx(4 * 0.75));  // as the kept rank divided its time
  CHECK(alone.seconds.half_width(0.9) > 0.5);
  CHECK(find(estimates, "step/MPI_Reduce").seconds.total == Approx(4 * 0.25));
  CHECK(find(estimates, "step").inclusive.total > 1);
  // Of a region that no kept rank called, no call path is known.  Without calls it is a computation between MPI calls.
  for (const CallEstimate& call : estimates.calls) CHECK(call.path != "MPI_Waitall");
  for (TraceWindow& window : trace.windows) window.region_calls->emplace(region_waitall, 2);
  const CallEstimates more = estimate_calls(trace);
  const CallEstimate& unseen = find(more, "MPI_Waitall");
  CHECK(unseen.count.total == 4 * 2);
  CHECK(unseen.count.half_width(0.9) == 0);
  CHECK(unseen.seconds.total == Approx(4 * 5));
  CHECK(unseen.inclusive.total == Approx(4 * 5));
  CHECK(unseen.seen == 0);
  CHECK(more.calls.size() == estimates.calls.size() + 1);
}

TEST_CASE("a region that goes on over steps counts once, although the trace has a part for each step") {
  Trace trace = empty_trace(3);
  for (int w = 0; w < 2; ++w) {
    TraceWindow& window = add_window(trace, w, 1000 * w, 1000 * (w + 1));
    window.strata = {{3, 2}};
    window.region_calls = {{region_send, 6}};
    if (w == 0) window.region_calls->emplace(region_step, 3);
    for (const std::int32_t rank : {0, 2}) {
      Events e(1000 * w);
      for (int step = 0; step < 4; ++step)
        e.enter(region_step).enter(region_send).wait(5).leave(region_send).leave(region_step).step(step);
      keep(trace, rank, why::reason_sample, 2.0 / 3, 0, e);
    }
  }
  const CallEstimates estimates = estimate_calls(trace);
  CHECK(find(estimates, "step").count.total == Approx(3));
  CHECK(find(estimates, "step").count.half_width(0.9) == 0);
  CHECK(find(estimates, "step").seen == 16);
  CHECK(find(estimates, "step/MPI_Send").count.total == Approx(12));
}

TEST_CASE("how calls that the overhead guard left out divide among call paths is not known") {
  // The trace has one in 100 calls on one path and one in 10 on the other, in each of many windows.
  Trace trace = empty_trace(4);
  constexpr int windows = 30;
  for (int w = 0; w < windows; ++w) {
    TraceWindow& window = add_window(trace, w, 10'000 * w, 10'000 * (w + 1));
    window.strata = {{4, 2}};
    window.region_calls = {{region_send, 4 * 2000}, {region_solve, 4}};
    for (const std::int32_t rank : {1, 2}) {
      Events e(10'000 * w);
      e.enter(region_solve);
      for (int i = 0; i < 10; ++i) e.enter(region_send).wait(2).leave(region_send);
      e.leave(region_solve);
      for (int i = 0; i < 100; ++i) e.enter(region_send).wait(2).leave(region_send);
      keep(trace, rank, why::reason_sample, 0.5, 0, e);
    }
  }
  const CallEstimates estimates = estimate_calls(trace);
  const sampling::Estimate inside = find(estimates, "solve/MPI_Send").count,
                           outside = find(estimates, "MPI_Send").count;
  const double truth = 4.0 * 1000 * windows;
  CHECK(inside.total + outside.total == Approx(2 * truth));
  CHECK(std::abs(inside.total - truth) < inside.half_width(0.9));
  CHECK(std::abs(outside.total - truth) < outside.half_width(0.9));
}
