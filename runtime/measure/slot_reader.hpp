// What the recorder saw of a thread's slot at the last step; for the recorder's own sources.
#pragma once

#include "runtime/measure/recorder.hpp"

namespace effort::measure {

struct Recorder::SlotReader {
  explicit SlotReader(ThreadSlot* s) : slot(s) {}

  ThreadSlot* slot;
  bool own = false;  ///< the stepping thread's
  std::vector<std::uint64_t> ticks;
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> counters;
  std::vector<std::int64_t> step_totals;
  std::vector<std::int64_t> looked;   ///< begins when the guard looked last
  std::int64_t skips = 0;             ///< of the slot, when they were last counted
  std::uint64_t cpu_readings = 0;     ///< the same
  double measured = 0;                ///< seconds that measuring has cost since the guard looked last
  double computed = 0;                ///< seconds of load since then; of the stepping thread, see Recorder::computing
  bool told = false;                  ///< the slot knows what the library takes
  std::uint64_t load_ticks = 0;       ///< of all COMPUTE regions
  std::uint64_t load_counts = 0;      ///< the same of the counter that is the load
  std::uint32_t sampling_version = 0; ///< of the periods that the slot was offered
  std::vector<double> work;
  std::vector<std::vector<double>> metric;
};

}  // namespace effort::measure
