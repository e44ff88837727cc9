// Compares schedules of rebalances by their expected costs.  Losses and costs are in mean loads.
#pragma once

#include "analytics/balance/loss.hpp"
#include "analytics/balance/price.hpp"

#include <cstddef>
#include <vector>

namespace effort::balance {

/// Losses by age in steps, and their running sums.
class Ageing {
 public:
  /// @param loss  [1 .. n], kept beyond n
  /// @param more  added to each
  explicit Ageing(std::vector<double> loss, double more = 0);
  double at(int age) const;
  /// Sum over the ages 1 to `age`.
  double sum(int age) const;

 private:
  std::vector<double> loss_, sum_;
};

/// The prospects of the coming steps.
struct Prospects {
  std::vector<Ageing> fresh;  ///< [cycle] fresh[d modulo cycle]: of a division made in d steps
  Ageing own;                 ///< of the present division
  const RebalanceEffect& effect;
  PriceLine price;    ///< mean steps
  double level = 0;   ///< present loss: only the part above `own` if a rebalance made the distribution
  double doubt = 0;   ///< margin on the loss that a rebalance leaves
  bool ages = false;  ///< a rebalance made the present distribution, so its loss grows with the age
  int age = 0;        ///< of the present distribution, steps
  int horizon = 0;    ///< steps
  int spacing = 1;    ///< possible rebalances are this many steps apart, or a multiple of it
  int soonest = 1;    ///< fewest steps to the next possible rebalance, because looks at the loads take time

  const Ageing& made(int delay) const { return fresh[static_cast<std::size_t>(delay) % fresh.size()]; }
  /// Loss of the present distribution after `delay` more steps, and its sum over `steps` steps.
  double present_at(int delay) const { return ages ? level + own.at(age + delay) : level; }
  double present_sum(int steps) const { return steps * level + (ages ? own.sum(age + steps) - own.sum(age) : 0.0); }
  /// Excess over a fresh division that remains after a rebalance at the excess `before`.
  double above(double before) const;
};

/// The cheapest schedules that rebalance now, later, or never within the horizon.
struct ScheduleCosts {
  double now = 0, later = 0, never = 0;  ///< losses and prices over the horizon
  int delay = 0;                         ///< steps until the first rebalance of the cheapest schedule that waits
  int length = 0;                        ///< steps until the second rebalance of the cheapest schedule that acts now
};

/// Finds the cheapest schedules by dynamic programming over the step of the next rebalance: cost(t) = min over n of the
/// loss of n steps + the price of a rebalance after them + cost(t + n) (Bellman 1957).  A rebalance waits for the phase
/// of the cycle in which divisions last longest.  Time O(horizon x (20 + size of fresh)).
ScheduleCosts compare_schedules(const Prospects& prospects);

}  // namespace effort::balance
