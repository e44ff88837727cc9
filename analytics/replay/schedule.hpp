// The cost of schedules of rebalances on a recording, and the best schedule in hindsight.
#pragma once

#include "analytics/replay/division.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace effort::replay {

/// A schedule of rebalances and its cost.
struct Schedule {
  std::vector<std::int64_t> steps;  ///< first steps of new divisions, ascending
  double cost = 0;                  ///< seconds of critical path, prices included
  bool exact = true;                ///< true: no schedule of its kind costs less; false: the best one found
};

/// Intervals that a user would try, in steps.
inline constexpr std::array<int, 7> fixed_intervals{1, 2, 5, 10, 20, 50, 100};

/// Steps over which loads are averaged for a schedule's rebalance; the best of these is used.
inline constexpr std::array<int, 3> averaging_widths{1, 3, 10};

/// A rebalance every `interval` steps, by the mean loads since the last one (at most the last 10 steps) or by those of
/// the last step, whichever costs less.  Time O(ranks x steps).
Schedule fixed_schedule(const Recording& recording, Rebalancer rebalancer, int interval, Price price);

/// The cheapest schedule that may rebalance after any step.  For an ideal rebalancer it is found by dynamic programming
/// over the step of the last rebalance: best(t) = price + min over s < t of best(s) + the loss of the division of s
/// until t.  Time O(ranks x steps^2).  On long recordings only evenly spaced steps are considered, and the result is
/// not exact.  For other rebalancers, and prices that depend on the load moved: the same schedule or a fixed one,
/// whichever costs less.
Schedule best_schedule(const Recording& recording, Rebalancer rebalancer, Price price);

/// Cost of never rebalancing, seconds.
double cost_of_never(const Recording& recording);

}  // namespace effort::replay
