// Reads, in the thread that ends steps, what a thread's slot has accumulated since the last step.
#pragma once

#include "runtime/measure/measuring_cost.hpp"
#include "runtime/measure/step_frame.hpp"
#include "runtime/measure/thread_slot.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace effort::measure {

/// Parameters that all slots of a session share.
struct Reading {
  const LoadRule& load;
  const CounterChoice& counters;
  const MeasuringCost& cost;
};

/// Remembers the last totals of one slot and takes the differences.
class SlotReader {
 public:
  explicit SlotReader(ThreadSlot* slot) : slot_(slot) {}

  ThreadSlot& slot() const noexcept { return *slot_; }

  /// Adds the slot's growth since the last call to the step's frame.
  /// @param stepping  the slot belongs to the thread that ends the step
  void read(const Reading& how, bool stepping, std::uint64_t now, StepFrame& frame);
  /// The load that the thread has added since the last step, in the load's unit.  Called by that thread.
  double load_since_step(const Reading& how, const StepFrame& frame) const;
  /// Seconds of a rebalance's COMPUTE regions, which belong to its price: they do not count as the step's load.
  void leave_out(double seconds) noexcept { left_out_ += seconds; }

  // ---- for the guard: values since its last look
  /// Cost of measuring, in seconds.
  double measured() const noexcept { return measured_; }
  /// Load in seconds, if it is a time.
  double computed() const noexcept { return computed_; }
  bool stepping() const noexcept { return stepping_; }
  /// Raises most[region] to the number of calls, for COMPUTE regions.
  void raise_to_calls(const StepFrame& frame, std::span<std::int64_t> most) const;
  void looked();
  /// Calls of a region that is sampled, and the cost of the timed ones in units of the load (ticks, nanoseconds of CPU
  /// time, or counts).
  struct Calls {
    std::int64_t apart = 0;  ///< timed, with an effect on the load (Scatter)
    double sum = 0, square = 0;
    std::int64_t alike = 0;  ///< timed or not, without an effect on the load
  };
  /// Adds the calls since the last look under the plan last offered.  Call it once per look and region.
  void add_sampled_calls(std::size_t region, Calls& calls);
  void offer(std::unique_ptr<SamplingPlan> plan);
  /// Version of the periods that the slot was last offered.
  std::uint32_t plan_version = 0;

 private:
  inline std::uint32_t visible_regions(const StepFrame& frame) const;
  inline void read_ticks(const Reading& how, std::uint32_t n, std::uint64_t now, StepFrame& frame);
  inline void read_counters(const Reading& how, std::uint32_t n, StepFrame& frame);
  void read_counter(const Reading& how, int counter, std::uint32_t n, StepFrame& frame);
  inline void read_step_counters_of(const Reading& how, StepFrame& frame);
  inline void read_metrics(const Reading& how, std::uint32_t n, StepFrame& frame);
  inline void read_work(StepFrame& frame);
  inline double read_begins(const MeasuringCost& cost, std::uint32_t n, StepFrame& frame);
  inline void add_load(std::uint64_t& last, std::uint64_t total, double scale);
  inline double own_in_waits(std::uint32_t region, const StepFrame& frame) const;
  void set_own_ticks(const MeasuringCost& cost);

  ThreadSlot* const slot_;
  bool stepping_ = false;
  std::vector<std::uint64_t> ticks_;         ///< [region]
  std::vector<std::int64_t> begins_;         ///< [region]
  std::vector<std::int64_t> counters_;       ///< [region][counter]
  std::vector<std::int64_t> step_totals_;    ///< [step counter]
  std::vector<std::vector<double>> metric_;  ///< [metric][region]
  std::vector<double> work_;                 ///< [unit]
  std::int64_t skips_ = 0;
  std::uint64_t cpu_readings_ = 0;
  std::uint64_t load_ticks_ = 0, load_counts_ = 0;  ///< of all COMPUTE regions, if the load is made of them
  double load_ = 0, left_out_ = 0;                  ///< of the step
  bool own_ticks_set_ = false;                      ///< the slot subtracts the library's own time
  std::vector<std::int64_t> looked_;                ///< begins at the guard's last look
  double measured_ = 0, computed_ = 0;
  const SamplingPlan* plan_ = nullptr;  ///< last offered; owned by the slot
  std::vector<Calls> sampled_;          ///< [region] under this plan until the last look
};

}  // namespace effort::measure
