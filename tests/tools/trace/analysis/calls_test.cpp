// Estimates of the calls of all ranks, from the events of sampled ones, compared with the whole population.
#include "tools/trace/analysis/calls.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "../traces.hpp"
#include "analytics/sampling/draw.hpp"
#include "tools/trace/model/call_paths.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using Catch::Approx;
using effort::trace::Kind;
namespace why = effort::record::trace;
namespace sampling = effort::sampling;

namespace {

constexpr int n_windows = 4;
const std::vector<int> strata = {40, 25, 5};

/// The activity of a rank in a window: how often it sends, and how long it solves.
struct Work {
  int sends = 0;
  std::int64_t solve_ns = 0;
};

/// [windows][ranks]
std::vector<std::vector<Work>> population() {
  std::mt19937_64 random(5);
  std::vector<std::vector<Work>> out(n_windows);
  for (auto& window : out)
    for (std::size_t h = 0; h < strata.size(); ++h)
      for (int i = 0; i < strata[h]; ++i)
        window.push_back(
            {1 + static_cast<int>(random() % 6), 1000 + 400 * static_cast<int>(h) + static_cast<int>(random() % 600)});
  return out;
}

Events events_of(const Work& work, std::int64_t start) {
  Events e(start);
  e.step(0).enter(region_step).enter(region_solve).wait(work.solve_ns).leave(region_solve);
  for (int i = 0; i < work.sends; ++i) e.enter(region_send).message(Kind::send, 0, 0, 100).wait(10).leave(region_send);
  return std::move(e.wait(5).leave(region_step));
}

/// The trace of a draw; with `subset`, all windows have the sample of the first.
Trace sampled(const std::vector<std::vector<Work>>& all, std::uint64_t draw, bool subset = false) {
  const std::vector<std::int64_t> sizes = {6, 4, 2};
  Trace out = empty_trace(70);
  for (int w = 0; w < n_windows; ++w) {
    TraceWindow& window = add_window(out, w, 10'000 * w, 10'000 * (w + 1));
    std::int32_t first = 0;
    for (std::size_t h = 0; h < strata.size(); ++h) {
      window.strata.push_back({strata[h], static_cast<std::int32_t>(sizes[h])});
      const auto chosen = effort::sampling::draw_without_replacement(
          strata[h], sizes[h], draw, static_cast<std::uint64_t>(subset ? 0 : w) * 8 + h);
      for (const std::int32_t i : chosen)
        keep(out, first + i, why::reason_sample, static_cast<double>(sizes[h]) / strata[h],
             static_cast<std::int32_t>(h),
             events_of(all[static_cast<std::size_t>(w)][static_cast<std::size_t>(first + i)], 10'000 * w));
      first += strata[h];
    }
  }
  return out;
}

const CallEstimate& find(const CallEstimates& estimates, const std::string& path) {
  const auto at = std::find_if(estimates.calls.begin(), estimates.calls.end(),
                               [&](const CallEstimate& call) { return call.path == path; });
  REQUIRE(at != estimates.calls.end());
  return *at;
}

struct Verdict {
  double bias = 0;  ///< relative, of the mean estimate
  double coverage = 0;
};

/// Draws 600 times and compares with the whole.
template <typename Value>
Verdict judge(double truth, bool subset, Value&& value) {
  const auto all = population();
  Verdict out;
  constexpr int draws = 600;
  for (int i = 0; i < draws; ++i) {
    const CallEstimates estimates = estimate_calls(sampled(all, static_cast<std::uint64_t>(i), subset));
    const effort::sampling::Estimate estimate = value(estimates);
    out.bias += (estimate.total / truth - 1) / draws;
    out.coverage += (std::abs(estimate.total - truth) <= estimate.half_width(0.90) ? 1.0 : 0.0) / draws;
  }
  return out;
}

}  // namespace

TEST_CASE("estimates over windows: unbiased, and inside their intervals as often as promised") {
  double sends = 0, solve = 0;
  for (const auto& window : population())
    for (const Work& work : window) sends += work.sends, solve += 1e-9 * static_cast<double>(work.solve_ns);
  for (const bool subset : {false, true}) {
    const Verdict count = judge(sends, subset, [](const CallEstimates& e) { return find(e, "step/MPI_Send").count; });
    const Verdict bytes =
        judge(100 * sends, subset, [](const CallEstimates& e) { return find(e, "step/MPI_Send").bytes; });
    const Verdict seconds = judge(solve, subset, [](const CallEstimates& e) { return find(e, "step/solve").seconds; });
    CAPTURE(subset, count.coverage, seconds.coverage);
    CHECK(std::abs(count.bias) < 0.01);
    CHECK(std::abs(bytes.bias) < 0.01);
    CHECK(std::abs(seconds.bias) < 0.004);
    CHECK(count.coverage > 0.86);
    CHECK(bytes.coverage > 0.86);
    CHECK(seconds.coverage > 0.86);
    CHECK(seconds.coverage < 0.96);
  }
}

TEST_CASE("certainties and partners enter no estimate") {
  const auto all = population();
  Trace trace = sampled(all, 3);
  const CallEstimates before = estimate_calls(trace);
  // Every rank that is not in the sample is kept for another reason, and behaves very differently.
  const std::size_t last = trace.windows.size() - 1;
  for (std::int32_t rank = 0; rank < 70; ++rank) {
    if (trace.windows[last].find(rank) != nullptr) continue;
    const std::uint16_t reason = rank % 2 == 0 ? why::reason_medoid : why::reason_partner;
    keep(trace, rank, reason, 0.1, 0, events_of({1000, 9000}, 30'000));
  }
  const CallEstimates after = estimate_calls(trace);
  CHECK(find(after, "step/MPI_Send").count.total == find(before, "step/MPI_Send").count.total);
  CHECK(find(after, "step/MPI_Send").count.variance == find(before, "step/MPI_Send").count.variance);
  CHECK(find(after, "step/MPI_Send").seen > find(before, "step/MPI_Send").seen);
  CHECK(find(after, "step/MPI_Send").seen < 40'000);  // those of medoids, not of partners
  // A rank that is a medoid and in the sample does.
  KeptRank& both = trace.windows[last].ranks[0];
  both.reasons |= why::reason_medoid;
  CHECK(find(estimate_calls(trace), "step/MPI_Send").count.total == find(before, "step/MPI_Send").count.total);
}

TEST_CASE("a path that only certainties have is unknown, not absent") {
  Trace trace = sampled(population(), 3);
  keep(trace, 69, why::reason_outlier, 0.4, 2, Events(35'000).enter(region_reduce).wait(5).leave(region_reduce));
  if (trace.windows.back().find(69)->sampled()) return;
  const CallEstimates estimates = estimate_calls(trace);
  CHECK_FALSE(find(estimates, "MPI_Reduce").sampled);
  CHECK(find(estimates, "MPI_Reduce").seen == 1);
}

TEST_CASE("lost ranks, dropped steps, windows without a sample") {
  const auto all = population();
  Trace trace = sampled(all, 8);
  const double before = find(estimate_calls(trace), "step/solve").seconds.total;
  trace.windows[0].ranks[0].lost = true;
  const CallEstimates lost = estimate_calls(trace);
  CHECK(find(lost, "step/solve").seconds.total != before);
  CHECK(find(lost, "step/solve").seconds.total == Approx(before).epsilon(0.1));
  trace.windows[1].last_step = trace.windows[1].first_step + 3;
  trace.windows[1].ranks[0].dropped_steps = 2;
  const CallEstimates dropped = estimate_calls(trace);
  CHECK(dropped.scaled == 1);
  for (KeptRank& kept : trace.windows[2].ranks) kept.reasons = why::reason_pin;
  const CallEstimates three = estimate_calls(trace);
  CHECK(three.windows == 3);
  CHECK(three.without_sample == 1);
  for (KeptRank& kept : trace.windows[3].ranks)
    if (kept.stratum == 1) kept.lost = true;
  CHECK(estimate_calls(trace).partly == 1);
  trace.windows.clear(), trace.threads.clear();
  CHECK(estimate_calls(trace).calls.empty());
}

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
    CHECK(find(after, "step/solve").count.total == find(before, "step/solve").count.total);
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
  }
}

TEST_CASE("a region that no sampled rank called has a known time and an unknown number of calls") {
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
  for (TraceWindow& window : trace.windows) window.region_seconds = {{region_reduce, 1.0}, {region_waitall, 5.0}};
  const CallEstimates estimates = estimate_calls(trace);
  const CallEstimate& alone = find(estimates, "MPI_Reduce");
  CHECK_FALSE(alone.sampled);
  CHECK(alone.timed);
  CHECK(alone.seconds.total == Approx(4 * 0.75));  // as the kept rank divided its time
  CHECK(alone.seconds.half_width(0.9) > 0.5);
  CHECK(find(estimates, "step/MPI_Reduce").seconds.total == Approx(4 * 0.25));
  CHECK(find(estimates, "step").inclusive.total > 1);
  // A region that no kept rank called has no call path.
  for (const CallEstimate& call : estimates.calls) CHECK(call.path != "MPI_Waitall");
}

TEST_CASE("call paths: nesting, time without inner calls, calls cut at the ends of a window") {
  Trace trace = empty_trace(1);
  TraceWindow& window = add_window(trace, 0, 100, 200);
  window.strata = {{1, 1}};
  Events e(110);
  e.leave(region_solve);  // began before
  e.wait(10).enter(region_send).wait(5).leave(region_send);
  e.wait(5).leave(region_step);                                // as well
  e.wait(10).enter(region_step).wait(20).enter(region_solve);  // both go on: 140, 160
  keep(trace, 0, why::reason_sample, 1, 0, e);
  const CallEstimates estimates = estimate_calls(trace);
  const auto check = [&](const char* path, double count, double seconds, double inclusive) {
    CAPTURE(path);
    const CallEstimate& call = find(estimates, path);
    CHECK(call.count.total == count);
    CHECK(call.seconds.total == Approx(1e-9 * seconds));
    CHECK(call.inclusive.total == Approx(1e-9 * inclusive));
    CHECK(call.count.half_width(0.9) == 0);
  };
  check("step", 1, 15 + 20, 30 + 60);
  check("step/solve", 1, 10 + 40, 10 + 40);
  check("step/MPI_Send", 1, 5, 5);
}

TEST_CASE("call paths: regions that name their parents, and calls that are not nested") {
  Trace trace = empty_trace(1);
  trace.regions[region_send].parent = region_solve;
  trace.regions[region_reduce].parent = region_reduce;  // damaged: a circle
  add_window(trace, 0, 0, 100).strata = {{1, 1}};
  Events e(0);
  e.enter(region_send).wait(5).leave(region_send);
  e.enter(region_reduce).leave(region_reduce);
  e.enter(region_step).wait(1).enter(region_solve).wait(1).leave(region_step).wait(1).leave(region_solve);
  e.wait(1).leave(region_waitall);
  keep(trace, 0, why::reason_sample, 1, 0, e);
  const CallEstimates estimates = estimate_calls(trace);
  CHECK(find(estimates, "solve/MPI_Send").count.total == 1);
  CHECK(find(estimates, "MPI_Waitall/step/solve").seconds.total == Approx(1e-9));
  CHECK(find(estimates, "MPI_Waitall").count.total == 0);
}
