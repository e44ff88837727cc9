// The cost of measuring on this machine.
#pragma once

#include "runtime/measure/guard.hpp"
#include "runtime/measure/thread_slot.hpp"

#include <cstdint>

namespace effort::measure {

struct MeasuringCost {
  PairCost pair{0, 0};
  double before_begin = 0, before_end = 0;  ///< ticks of the library's own time before a begin, and before an end
  double cpu_reading = 0;  ///< seconds per reading of the CPU clock, if it is not read at every boundary

  bool known() const noexcept { return pair.timed != 0; }
};

/// Measures the cost, in about 0.1 ms, with the counters of the calling thread's slot `own`.
/// @param plan  the session's plan for threads other than the first
MeasuringCost measure_cost(ThreadSlot& own, SlotPlan plan);

}  // namespace effort::measure
