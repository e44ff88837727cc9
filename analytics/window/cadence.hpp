// When to look again.
#pragma once

#include <cstdint>

namespace effort::window {

/// What looking costs, as measured on the run by node 0.
struct LookCost {
  double cpu_seconds = 0;      ///< of the thread that looks, per look
  double latency_seconds = 0;  ///< from the end of a step to its hint
  double wait_seconds = 0;     ///< that the rank which waits least waits for a hint at once
  double step_seconds = 0;     ///< elapsed time of a step; 0: nothing is known yet
};

/// The next look: after the last step of the present one come `steps` more, the last of which is followed by the hint
/// `lag` steps later.
struct NextLook {
  std::int32_t steps = 1, lag = 0;
};

/// Balances what looks cost against what is lost by looking late, which makes the interval go with the square root of
/// their ratio (as with checkpoints: Young 1974), and looks several times before a rebalance is expected to pay.
class Cadence {
 public:
  /// @param patience  steps until a rebalance is expected to pay, >= 1
  /// @param urgency   share of a step that is lost for each step that a rebalance comes later, >= 0
  NextLook next(const LookCost& cost, int patience, double urgency);

 private:
  int last_ = 1;
};

}  // namespace effort::window
