// How often the intervals of `effort trace info` hold the truth, and how wide they are, in a run with all ranks kept:
//   EFFORT_TRACE=on EFFORT_TRACE_PIN=0-15 EFFORT_TRACE_BUDGET=10000000000 mpirun -np 16 ./simulation
//   bench_redraws NAME-JOB.trace [draws]
// The trace holds the truth, so further samples of the same sizes can be drawn from its strata and compared with it:
// totals of the run per call path, from the sample alone, and with the times and calls of regions that were measured on
// all ranks. In the latter case the truth, too, adds up to these.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "analytics/sampling/draw.hpp"
#include "record/trace/contents.hpp"
#include "tools/trace/analysis/calls.hpp"
#include "tools/trace/input/read.hpp"

namespace {

using namespace effort;
using namespace effort::tools;

/// Draws `drawn[h]` ranks of each stratum.
void draw(TraceWindow& window, const std::vector<std::int32_t>& drawn, std::uint64_t number) {
  std::vector<std::vector<KeptRank*>> members(window.strata.size());
  for (KeptRank& kept : window.ranks) {
    kept.reasons = record::trace::reason_pin;
    if (kept.stratum >= 0) members[static_cast<std::size_t>(kept.stratum)].push_back(&kept);
  }
  for (std::size_t h = 0; h < members.size(); ++h) {
    const auto population = static_cast<std::int64_t>(members[h].size());
    const std::int64_t n = std::min<std::int64_t>(drawn[h], population);
    const auto stream = static_cast<std::uint64_t>(window.ordinal) * 64 + h;
    for (const std::int32_t i : sampling::draw_without_replacement(population, n, number, stream)) {
      KeptRank& kept = *members[h][static_cast<std::size_t>(i)];
      kept.reasons = record::trace::reason_sample;
      kept.probability = static_cast<double>(n) / static_cast<double>(population);
    }
  }
}

/// Intervals compared with the truth.
struct Tally {
  double inside = 0, of = 0, width = 0, known = 0;
  void add(const sampling::Estimate& estimate, double truth, double confidence) {
    const double half = estimate.half_width(confidence);
    if (half < 0) return;
    const bool right = std::abs(estimate.total - truth) <= half + 1e-9 * std::abs(truth);
    if (half == 0 && right) {
      ++known;  // a measured time, or a number that all ranks have in common
      return;
    }
    inside += right ? 1 : 0;
    width += truth > 0 ? half / truth : 0;
    ++of;
  }
  void print(const char* what) const {
    std::printf("  %-24s %5.1f %% without an interval", what, 100 * known / (known + of));
    if (of > 0)
      std::printf("; %.1f %% of %.0f intervals hold the truth, mean half-width %.2f %%", 100 * inside / of, of,
                  100 * width / of);
    std::printf("\n");
  }
};

using Sizes = std::vector<std::vector<std::int32_t>>;  // [windows][strata]
using Calls = std::map<std::string, CallEstimate>;

/// The estimates from a sample.
Calls estimated(Trace& trace, const Sizes& sizes, std::uint64_t number) {
  for (std::size_t w = 0; w < trace.windows.size(); ++w) draw(trace.windows[w], sizes[w], number);
  Calls out;
  for (CallEstimate& call : estimate_calls(trace).calls) out.emplace(call.path, call);
  return out;
}

/// @param measured  with the times and calls of regions that were measured on all ranks
/// @return the truth
Calls compare(Trace trace, int draws, bool measured) {
  Sizes drawn, everyone;
  for (TraceWindow& window : trace.windows) {
    drawn.emplace_back(), everyone.emplace_back();
    for (const auto& stratum : window.strata)
      drawn.back().push_back(stratum.sample), everyone.back().push_back(stratum.population);
    if (measured) continue;
    window.region_seconds.reset();
    window.region_calls.reset();
  }
  Calls truth = estimated(trace, everyone, 0);
  Tally counts, times, inclusive;
  for (int i = 1; i <= draws; ++i) {
    for (const auto& [path, call] : estimated(trace, drawn, static_cast<std::uint64_t>(i))) {
      const CallEstimate& all = truth.at(path);
      counts.add(call.count, all.count.total, trace.confidence);
      times.add(call.seconds, all.seconds.total, trace.confidence);
      inclusive.add(call.inclusive, all.inclusive.total, trace.confidence);
    }
  }
  std::printf("%s, %zu windows, %zu call paths, %s\n", count_text(trace.n_ranks, "rank").c_str(), trace.windows.size(),
              truth.size(), measured ? "with measured times and calls of regions" : "from the sample alone");
  counts.print("numbers of calls");
  times.print("times");
  inclusive.print("times with inner calls");
  return truth;
}

/// By how much what was measured differs from the sums of all ranks' events.
void print_differences(const char* what, sampling::Estimate CallEstimate::*quantity, const Calls& traced,
                       const Calls& measured) {
  std::vector<double> differences;
  for (const auto& [path, call] : measured)
    if (const double events = (traced.at(path).*quantity).total; events > 0)
      differences.push_back(std::abs((call.*quantity).total / events - 1));
  if (differences.empty()) return;
  std::sort(differences.begin(), differences.end());
  std::printf("measured %s against sums of events: %.2f %% in the median of call paths, at most %.2f %%\n", what,
              100 * differences[differences.size() / 2], 100 * differences.back());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_redraws NAME-JOB.trace [draws]\n");
    return 1;
  }
  const int draws = argc > 2 ? std::atoi(argv[2]) : 40;
  const Trace trace = read_trace(argv[1]);
  const Calls traced = compare(trace, draws, false), measured = compare(trace, draws, true);
  print_differences("calls", &CallEstimate::count, traced, measured);
  print_differences("times", &CallEstimate::seconds, traced, measured);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
