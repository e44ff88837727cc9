// Turns the running totals of all host threads into one frame per step.
#pragma once

#include "runtime/measure/counter_choice.hpp"
#include "runtime/measure/event_switch.hpp"
#include "runtime/measure/frame.hpp"
#include "runtime/measure/measuring_cost.hpp"
#include "runtime/measure/registry.hpp"
#include "runtime/measure/sampling_control.hpp"
#include "runtime/measure/slot_reader.hpp"
#include "runtime/measure/step_frame.hpp"
#include "runtime/measure/thread_slot.hpp"
#include "runtime/recording/memory.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace effort::measure {

/// The cost of a rebalance on one rank, in seconds; negative: unknown.  docs/adr/0018 defines how the ranks' prices are
/// combined.
struct Price {
  double elapsed = -1;    ///< including waiting in unmarked communication
  double computing = -1;  ///< without any waiting; known only if communication is marked
};

/// The metrics and the load that a session measures.
struct Choices {
  std::vector<std::string> metrics;  ///< built-in metrics besides `time`, and events (metric_source.hpp)
  std::string load_metric;           ///< name of a built-in or application metric, or of an event
  LoadThreads threads = LoadThreads::max;
  Options options;
  bool operator==(const Choices&) const = default;
};

/// The measurement of one rank.  Measuring calls come from any host thread, end_step from one thread at a time.
class Recorder {
 public:
  /// A counter that cannot be read is reported as a note; for the load metric, see load_refusal().
  Recorder(const std::vector<std::string>& metrics, const std::string& load_metric, LoadThreads threads,
           const Options& options = {});

  Registry& registry() noexcept { return *registry_; }
  /// Number of the session in this process, from 1.
  std::uint64_t session() const noexcept { return session_; }
  /// Whether the recorder was made with these choices.
  bool measures(const std::vector<std::string>& metrics, const std::string& load_metric, LoadThreads threads,
                const Options& options = {}) const;
  /// Why the load cannot be measured as requested; empty if it can.
  const std::string& load_refusal() const noexcept { return counters_.load_refusal(); }

  // ---- the slow paths of the host's calls; each first prepares the calling thread's slot
  /// The calling thread's slot, prepared for this session and for all regions known now.
  ThreadSlot& slot();
  void add_seconds(std::uint32_t region, double seconds);
  void add_work(std::uint32_t unit, double amount);
  void add_metric(std::uint32_t metric, double value);

  // ---- progress
  /// Appends new definitions to `out`.
  void publish_definitions(RecordStream& out);
  /// Appends new definitions, then the frame of steps first..last, to `out`.
  void end_step(std::int64_t first_step, std::int64_t last_step, RecordStream& out);
  /// Called in one thread around a rebalance; prices it for this rank on the clock that measures the loads.
  void begin_price(Pricing& around);
  Price end_price(const Pricing& around);
  /// Adds a rebalance to the trace, if there is one.
  void record_rebalance() noexcept;
  /// The load, in its unit, that the rebalancing thread had added to the current step when the current rebalance began.
  double load_before_price() const noexcept { return load_before_price_; }
  /// Estimated seconds that measuring has cost the busiest thread so far: region boundaries by their number, ends of
  /// steps by the clock.
  double own_seconds() const noexcept { return own_seconds_; }
  /// Discards the calling thread's time since its last boundary, which the library itself has used: it counts neither
  /// for a region nor for a price.
  void resume();
  /// Appends the notes at the end of the run, about counters and about a region that is still open.
  void add_final_notes(RecordStream& out);
  void set_phase(std::uint32_t phase) noexcept;
  /// From now on, all threads of this session record their events.  @param memory  this rank's
  void record_events(recording::Memory memory);
  /// Stops recording.  @return false if a thread may still be writing a record, so that the memory must stay mapped
  /// forever
  bool stop_events() noexcept { return events_.turn_off(); }

 private:
  bool is_ours(const ThreadSlot& slot) const noexcept { return slot.session() == session_; }
  SlotPlan plan() const {
    SlotPlan plan = counters_.plan(std::this_thread::get_id() == first_thread_, shared_registry_);
    plan.events = events_.memory();
    return plan;
  }
  ThreadSlot* settle_stepping_thread();
  SlotReader* reader_of(const ThreadSlot& slot) const;
  void read_slots(const ThreadSlot* stepping, std::uint64_t now);
  void note_open_region();
  double without_interruption(double seconds);
  template <typename Record>
  void record(const Record& record) noexcept;

  const std::shared_ptr<Registry> registry_ = std::make_shared<Registry>();
  const std::shared_ptr<const Registry> shared_registry_ = registry_;  ///< for slots
  const std::uint64_t session_;
  const Choices choices_;
  const std::thread::id first_thread_;  ///< reads the counters that cover the whole process
  CounterChoice counters_;
  LoadRule load_;
  const DerivedMetrics derived_;
  std::atomic<std::uint32_t> phase_{0};
  EventSwitch events_;

  ThreadSlot* priced_ = nullptr;  ///< slot of the thread whose rebalance is being priced
  double load_before_price_ = 0;

  // Owned by the thread that ends steps.
  std::vector<std::unique_ptr<SlotReader>> readers_;  ///< of all slots of the process
  std::vector<SlotReader*> ours_;                     ///< the readers of this session's slots
  StepFrame frame_;
  std::size_t published_definitions_ = 0;
  const ThreadSlot* stepping_ = nullptr;  ///< of the last step; null: none
  // Regions that were open in that thread when the first and the last step ended; -1: no step has ended.
  std::int64_t first_depth_ = -1, last_depth_ = -1;
  MeasuringCost cost_;  ///< known from the first step on
  const Reading reading_{load_, counters_, cost_};
  SamplingControl sampling_;
  std::uint64_t last_stamp_;
  double step_cost_ = 0;        ///< seconds that ending the last step took, without interruptions
  double usual_step_cost_ = 0;  ///< a moving average
  double own_seconds_ = 0;
};

}  // namespace effort::measure
