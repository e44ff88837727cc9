// The summary table of a run.
#pragma once

#include "record/run.hpp"

#include <string>

namespace effort::engine {

/// Totals that the snapshot's description does not contain.
struct RunTotals {
  double prices;  ///< sum of the measured prices of rebalancing
  int rebalances;
};

/// Text of REPORT=summary: regions by time, imbalance, worst rank, rebalances with price and gain, what ideal balance
/// would save, the library's own cost.
std::string summary(const record::Run& run, const RunTotals& totals);

}  // namespace effort::engine
