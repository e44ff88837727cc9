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

/// How to replay it.
struct Options {
  window::Settings analysis;  ///< window, lag, strata, seed, ...; initial_price is set from `price` and `price_known`
  Rebalancer rebalancer;      ///< what a rebalance does
  double price = -1;          ///< seconds that every rebalance costs; < 0: not known, rebalances are free of charge
  bool price_known = true;    ///< the decision knows the price from the start, not only after the first rebalance
  std::int64_t virtual_ranks = 0;  ///< > 0: virtual rank v is a copy of recorded rank v mod ranks; 0: as recorded
  int nodes = 0;                   ///< simulated nodes, a thread each; 0: one per 256 ranks, at most 16
  bool decide = true;              ///< false: nothing is rebalanced, whatever is recommended
  /// Called for every described window, by each node's thread, with what it analysed (loads as they are after the
  /// replay's own rebalances); may be empty.  Calls of different nodes run at the same time.
  std::function<void(int node, const window::Input&, const window::Result&)> on_window;
};

/// Steps of a described window where looks come as often as they pay.
inline constexpr int tile_steps = 10;

/// One window's outcome: of the steps up to a recommended rebalance, or to the end of a described window.
struct WindowReport : window::Report {
  std::int64_t rebalanced_at = -1;  ///< first step with new loads; -1: not rebalanced (or the recording ended before)
};

/// What a stage of the analysis used, over all windows.
struct StageUse {
  double critical_seconds = 0;  ///< sum over windows of the largest thread's CPU time
  double total_seconds = 0;     ///< CPU time of all threads
  std::size_t bytes = 0;        ///< memory of its arrays, kept ones and a window's, on the node that needs most
};

struct Report {
  std::vector<WindowReport> windows;
  Schedule chosen, best;                                    ///< costs in seconds of critical path, prices included
  std::array<double, fixed_intervals.size()> cost_fixed{};  ///< the same of rebalancing at fixed intervals
  double cost_never = 0;                                    ///< seconds of critical path
  std::array<StageUse, window::n_stages> stages{};
  double largest_window_seconds = 0;  ///< critical CPU time of the most expensive window
  std::size_t bytes_per_node = 0;     ///< largest of what an analyzer keeps between windows
  std::int64_t ranks = 0;             ///< replayed, virtual ones included
  int nodes = 0;
};

/// Replays a recording: the analysis sees the loads as they are after the rebalances that it recommended, and which the
/// rebalancer made of its predicted loads (Division).  Looks cost nothing.  Blocks; starts options.nodes threads.
/// Slightly negative loads, as lossy compression leaves them, count as 0.
/// Memory: the cube's size times virtual ranks per recorded rank, one window's share of it.
/// @throws std::invalid_argument on wrong dimensions, negative or non-finite loads, or settings out of range
Report replay(const Cube& cube, const Options& options);

}  // namespace effort::replay
