// What is reported of a run at its end.
#pragma once

#include "record/run.hpp"

#include <string>

namespace effort::engine {

/// Totals that the snapshot's description does not contain.
struct RunTotals {
  double prices;  ///< sum of the measured prices of rebalancing
  int rebalances;
};

/// What VERBOSE and REPORT say of a run without steps.
inline constexpr const char* without_steps =
    "effort_progress_step was never called, so nothing was analysed: call it at the end of every step, on all ranks";

/// Text of REPORT=summary: regions by time, imbalance, worst rank, rebalances with price and gain, what ideal balance
/// would save, the library's own cost.
std::string summary(const record::Run& run, const RunTotals& totals);

}  // namespace effort::engine
