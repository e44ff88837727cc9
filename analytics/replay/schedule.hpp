// What schedules of rebalances would have cost on a recording, and the best one known afterwards.
#pragma once

#include "analytics/replay/division.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace effort::replay {

/// Steps with which a new division begins, ascending, and what that costs.
struct Schedule {
  std::vector<std::int64_t> steps;
  double cost = 0;    ///< seconds of critical path, prices included
  bool exact = true;  ///< no schedule of its kind costs less; otherwise the best that was found
};

/// Intervals that a person would try, in steps.
inline constexpr std::array<int, 7> fixed_intervals{1, 2, 5, 10, 20, 50, 100};

/// Steps over which the loads are averaged that a schedule's rebalance divides by: the best of these is used.
inline constexpr std::array<int, 3> averaging_widths{1, 3, 10};

/// A rebalance every `interval` steps, by the mean loads since the last one (at most the last 10 steps) or by those of
/// the last step, whichever costs less.  Time O(ranks x steps).
Schedule fixed_schedule(const Recording& recording, Rebalancer rebalancer, int interval, double price);

/// The cheapest of the schedules that may rebalance after any step.  For an ideal rebalancer by dynamic programming
/// over the step of the last one: best(t) = price + min over s < t of best(s) + what the division of s loses until t;
/// time O(ranks x steps^2), and for long recordings with an even distance between opportunities, then not exact.  For
/// others that schedule or a fixed one, whichever costs less.
Schedule best_schedule(const Recording& recording, Rebalancer rebalancer, double price);

/// Cost of never rebalancing, seconds.
double cost_of_never(const Recording& recording);

}  // namespace effort::replay
