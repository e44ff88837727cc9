// Decides when the next look is due.
#pragma once

#include <cstdint>

namespace effort::window {

/// The cost of a look, measured on the run by node 0.
struct LookCost {
  double cpu_seconds = 0;      ///< CPU time of the analysing thread per look
  double latency_seconds = 0;  ///< from the end of a step to its hint
  double wait_seconds = 0;     ///< time the host waits for a hint of lag 0, smallest over the ranks
  double step_seconds = 0;     ///< elapsed time of a step; 0: no cost is known yet
};

/// The next look comes `steps` steps after the present one; its hint is delivered `lag` steps later.
struct NextLook {
  std::int32_t steps = 1, lag = 0;
};

/// Balances the cost of looks against the loss that late looks cause.  The interval grows with the square root of their
/// ratio, as for checkpoints (Young 1974).  Several looks come before a rebalance is expected to pay.
class Cadence {
 public:
  /// @param patience  steps until a rebalance is expected to pay, >= 1
  /// @param urgency   loss per step of delay of a rebalance, as a share of a step, >= 0
  NextLook next(const LookCost& cost, int patience, double urgency);
  /// The fewest steps to the next look that its cost allows at the urgency of the last look, >= 1.
  int soonest(const LookCost& cost) const;

 private:
  int last_ = 1;
  double urgency_ = 0;  ///< at the last look
};

}  // namespace effort::window
