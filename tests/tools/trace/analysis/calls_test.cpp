// Estimates of the calls of all ranks, from the events of sampled ones, compared with the whole population.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>

#include "../../command.hpp"
#include "population.hpp"
#include "tools/trace/input/read.hpp"
#include "tools/trace/model/call_paths.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using Catch::Approx;
using effort::trace::Kind;
namespace sampling = effort::sampling;

namespace {

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

TEST_CASE("call paths: nesting, time without inner calls, calls cut at the ends of a window") {
  Trace trace = empty_trace(1);
  TraceWindow& window = add_window(trace, 0, 100, 200);
  window.strata = {{1, 1}};
  Events e(110);
  e.leave(region_solve);  // began before
  e.wait(10).enter(region_send).wait(5).leave(region_send);
  e.wait(5).leave(region_step);                                // as well
  e.wait(10).enter(region_step).wait(20).enter(region_solve);  // both go on: 140, 160
  keep(trace, 0, effort::record::trace::reason_sample, 1, 0, e);
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
  keep(trace, 0, effort::record::trace::reason_sample, 1, 0, e);
  const CallEstimates estimates = estimate_calls(trace);
  CHECK(find(estimates, "solve/MPI_Send").count.total == 1);
  CHECK(find(estimates, "MPI_Waitall/step/solve").seconds.total == Approx(1e-9));
  CHECK(find(estimates, "MPI_Waitall").count.total == 0);
}

TEST_CASE("what a call completes is inside it, so that its bytes are those of the call") {
  const Scratch scratch;
  Trace trace = empty_trace(2);
  add_window(trace, 0, 0, 1000).strata = {{2, 1}};
  Events events(0);
  events.at(100).enter(region_waitall).at(200).leave(region_waitall);
  events.message(Kind::receive_done, 1, 3, 64, 1).message(Kind::receive_done, 1, 4, 32, 2);
  events.at(300).enter(region_solve);
  keep(trace, 0, effort::record::trace::reason_sample, 0.5, 0, events);
  write_files(trace, scratch / "app-17.trace");
  const Trace got = read_trace((scratch / "app-17.trace").string());
  REQUIRE(got.threads.size() == 1);
  REQUIRE(got.threads[0].events.size() == 5);
  for (const std::size_t i : {1, 2}) CHECK(got.threads[0].events[i].kind == Kind::receive_done);
  CHECK(got.threads[0].events[1].bytes == 64);
  CHECK(got.threads[0].events[3].kind == Kind::leave);
  const CallEstimates estimates = estimate_calls(got);
  const auto wait = std::find_if(estimates.calls.begin(), estimates.calls.end(),
                                 [](const CallEstimate& c) { return c.bytes.total > 0; });
  REQUIRE(wait != estimates.calls.end());
  CHECK(wait->path.find("MPI_Waitall") != std::string::npos);
  // One sampled rank of two: nothing says that the other one has as many.
  CHECK(wait->bytes.half_width(0.9) < 0);
}
