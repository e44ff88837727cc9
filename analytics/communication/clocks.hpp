// Corrects clocks that were not synchronized, from messages and collectives.
#pragma once

#include <cstdint>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

struct ClockShift {
  std::int64_t largest_ns = 0;    ///< largest shift of a rank's times; 0: none was moved
  std::int64_t violation_ns = 0;  ///< largest contradiction between the times before the correction
  std::int64_t error_ns = 0;      ///< bound on the error of the offset between two ranks, for those with a bound
};

/// Moves the times of ranks so that, as far as possible, no message arrives before it is sent, and no rank leaves a
/// collective before the ranks that it depends on have entered.  Contradictions of up to 1 us are left alone.  Each
/// rank gets one offset to rank 0, or to the first rank that it is connected with, along the pairs that determine it
/// best.  The offset of a pair is the median difference between the times when both left barriers and N x N
/// collectives, clamped to the bounds that messages and collectives set.  Without such collectives, it is the middle of
/// these bounds (as Cristian 1989, "Probabilistic clock synchronization", does with round trips).  Drift is not
/// corrected.
///
/// For archives of tools that do not synchronize clocks: EZTrace counts from the start of each process.
/// Cost: O((messages + participations) log).
ClockShift align_clocks(Record& record);

}  // namespace effort::communication
