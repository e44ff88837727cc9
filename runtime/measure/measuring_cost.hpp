// The cost of measuring on this machine.
#pragma once

#include "runtime/measure/guard.hpp"
#include "runtime/measure/thread_slot.hpp"

#include <cstdint>

namespace effort::measure {

struct MeasuringCost {
  PairCost pair{0, 0};
  double before_begin = 0, before_end = 0;  ///< ticks that the library takes before a begin, and before an end
  double cpu_reading = 0;  ///< seconds that a reading of the CPU clock takes, if not every boundary has one

  bool known() const noexcept { return pair.timed != 0; }
};

/// Measures it, in about 0.1 ms, with the counters of the calling thread's slot `own`.
/// @param plan  of the session, for any other thread than the first
MeasuringCost measure_cost(ThreadSlot& own, SlotPlan plan);

}  // namespace effort::measure
