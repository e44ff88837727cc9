// Runs the per-window analysis on a recorded run as if it were live.
#pragma once

#include "analytics/replay/schedule.hpp"
#include "analytics/window/window.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace effort::replay {

/// A recorded run, borrowed: seconds of effort, [regions][ranks][steps].
struct Cube {
  std::span<const double> values;
  int regions = 0;
  int ranks = 0;
  std::int64_t steps = 0;
};

/// Options of a replay.
struct Options {
  window::Settings analysis;  ///< window, lag, strata, seed, ...; initial_price is set from `price` and `price_known`
  Rebalancer rebalancer;      ///< model of a rebalance
  double price = -1;          ///< seconds that every rebalance costs; < 0: unknown, and rebalances are free
  double moving = 0;          ///< share of the price in proportion to the load moved, 0 to 1 (Price)
  bool price_known = true;    ///< the decision knows the price from the start, not only after the first rebalance
  std::int64_t virtual_ranks = 0;  ///< > 0: virtual rank v is a copy of recorded rank v mod ranks; 0: as recorded
  int nodes = 0;                   ///< simulated nodes, a thread each; 0: one per 256 ranks, at most 16
  bool decide = true;              ///< false: recommendations are ignored
  /// [ranks][steps] seconds that each rank spends on duties that no rebalance moves, such as writing files; empty:
  /// none.  They count for `chosen` only.
  std::span<const double> other;
  bool know_waits = false;  ///< the analysis is told how long ranks waited for the last one of each step
  /// Called by each node's thread for every described window, with the input of the analysis (loads after the replay's
  /// own rebalances); may be empty.  Calls of different nodes may run concurrently.
  std::function<void(int node, const window::Input&, const window::Result&)> on_window;
};

/// Steps of a described window if the interval of looks is automatic.
inline constexpr int tile_steps = 10;

/// One window, which ends with a recommended rebalance or a described window.
struct WindowReport : window::Report {
  std::int64_t rebalanced_at = -1;  ///< first step with new loads; -1: no rebalance, or the recording ended before
};

/// Resources used by one stage of the analysis over all windows.
struct StageUse {
  double critical_seconds = 0;  ///< sum over windows of the largest thread's CPU time
  double total_seconds = 0;     ///< CPU time of all threads
  std::size_t bytes = 0;        ///< memory of its arrays, including those of one window; largest of the nodes
};

struct Report {
  std::vector<WindowReport> windows;
  Schedule chosen, best;                                    ///< costs in seconds of critical path, prices included
  std::array<double, fixed_intervals.size()> cost_fixed{};  ///< the same at fixed intervals
  double cost_never = 0;                                    ///< seconds of critical path
  std::array<StageUse, window::n_stages> stages{};
  double largest_window_seconds = 0;  ///< critical CPU time of the most expensive window
  std::size_t bytes_per_node = 0;     ///< memory of an analyzer between windows; largest of the nodes
  std::int64_t ranks = 0;             ///< including virtual ones
  int nodes = 0;
};

/// Replays a recording.  The analysis sees the loads after the rebalances that it recommended, which the rebalancer
/// (Division) made by its predictions.  Looks are free.  Blocks; starts options.nodes threads.  Slightly negative
/// loads, which lossy compression leaves, count as 0.  Memory: one window of the cube, times virtual ranks per recorded
/// rank.
/// @throws std::invalid_argument on wrong dimensions, negative or non-finite loads, or settings out of range
Report replay(const Cube& given, const Options& options);

}  // namespace effort::replay
