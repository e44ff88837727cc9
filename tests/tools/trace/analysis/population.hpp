// A population of ranks, traces of samples from it, and their estimates.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "../traces.hpp"
#include "analytics/sampling/draw.hpp"
#include "tools/trace/analysis/calls.hpp"

namespace effort::tools::test {

namespace why = effort::record::trace;

inline constexpr int n_windows = 4;
inline const std::vector<int> strata = {40, 25, 5};

/// The activity of a rank in a window: how often it sends, and how long it solves.
struct Work {
  int sends = 0;
  std::int64_t solve_ns = 0;
};

/// [windows][ranks]
inline std::vector<std::vector<Work>> population() {
  std::mt19937_64 random(5);
  std::vector<std::vector<Work>> out(n_windows);
  for (auto& window : out)
    for (std::size_t h = 0; h < strata.size(); ++h)
      for (int i = 0; i < strata[h]; ++i)
        window.push_back(
            {1 + static_cast<int>(random() % 6), 1000 + 400 * static_cast<int>(h) + static_cast<int>(random() % 600)});
  return out;
}

inline Events events_of(const Work& work, std::int64_t start) {
  Events e(start);
  e.step(0).enter(region_step).enter(region_solve).wait(work.solve_ns).leave(region_solve);
  for (int i = 0; i < work.sends; ++i)
    e.enter(region_send).message(trace::Kind::send, 0, 0, 100).wait(10).leave(region_send);
  return std::move(e.wait(5).leave(region_step));
}

/// The trace of a draw; with `subset`, all windows have the sample of the first.
inline Trace sampled(const std::vector<std::vector<Work>>& all, std::uint64_t draw, bool subset = false) {
  const std::vector<std::int64_t> sizes = {6, 4, 2};
  Trace out = empty_trace(70);
  for (int w = 0; w < n_windows; ++w) {
    TraceWindow& window = add_window(out, w, 10'000 * w, 10'000 * (w + 1));
    std::int32_t first = 0;
    for (std::size_t h = 0; h < strata.size(); ++h) {
      window.strata.push_back({strata[h], static_cast<std::int32_t>(sizes[h])});
      const auto chosen = sampling::draw_without_replacement(strata[h], sizes[h], draw,
                                                             static_cast<std::uint64_t>(subset ? 0 : w) * 8 + h);
      for (const std::int32_t i : chosen)
        keep(out, first + i, why::reason_sample, static_cast<double>(sizes[h]) / strata[h],
             static_cast<std::int32_t>(h),
             events_of(all[static_cast<std::size_t>(w)][static_cast<std::size_t>(first + i)], 10'000 * w));
      first += strata[h];
    }
  }
  return out;
}

inline const CallEstimate& find(const CallEstimates& estimates, const std::string& path) {
  const auto at = std::find_if(estimates.calls.begin(), estimates.calls.end(),
                               [&](const CallEstimate& call) { return call.path == path; });
  REQUIRE(at != estimates.calls.end());
  return *at;
}

}  // namespace effort::tools::test
