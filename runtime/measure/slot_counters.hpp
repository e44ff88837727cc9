// One thread's counters other than the clock.
#pragma once

#include "runtime/measure/clock.hpp"
#include "runtime/measure/metric_source.hpp"
#include "runtime/measure/registry.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace effort::measure {

inline constexpr std::uint32_t max_metrics = 32;

/// The counters that a session reads in addition to the clock.
struct SlotPlan {
  const SourceSet* boundary = nullptr;  ///< read at every boundary; may be null
  const SourceSet* at_step = nullptr;   ///< read once a step; may be null
  bool whole = false;                   ///< this thread reads what counts for the whole process
  const Registry* registry = nullptr;   ///< knows the regions' kinds
  bool brief_by_ticks = false;          ///< see SlotCounters::brief_by_ticks; `boundary` is cpu_time alone
};

/// A thread's counters and their totals; those read at boundaries have totals by region.  The owner writes, and the
/// thread that ends steps reads.  Totals are never reset within a session: the reader takes differences.
class SlotCounters {
 public:
  // ---- by the owner, outside boundaries
  /// Opens the session's counters in the calling thread and takes their first readings.
  void start(const SlotPlan& plan);
  /// Room for `room` regions, each with as many counters as `plan` reads at boundaries.
  void make_room(std::uint32_t old_room, std::uint32_t room, const SlotPlan& plan);
  bool has_room_for(const SlotPlan& plan) const noexcept;
  bool is_open() const noexcept { return open_; }
  /// The totals and the number of counters stay available to the reader.
  void close();
  /// In the child of a fork: the readers count the parent, and closing them here would disturb that.
  void abandon() noexcept;
  /// Before the thread ends.
  void thread_ends() noexcept;
  /// For a new session: closed, without totals.
  void reset();

  // ---- by the owner, at boundaries
  /// Stores the counts since the last call in counted[count()] and returns the present time.  `passed` ticks have
  /// elapsed up to then; `own` of them were the library's, to which readings of the CPU clock are added.
  /// @param exactly  reads the CPU clock even for brief intervals
  std::uint64_t take(std::uint64_t stamp, bool computes, std::uint64_t& own, bool exactly,
                     std::int64_t* counted) noexcept;
  /// The same up to `at`, straight to the region's totals; for a thread that can count.
  void book(std::uint32_t region, std::uint64_t stamp, bool computes, std::uint64_t& at, std::uint64_t& own) noexcept {
    if (!brief_by_ticks_) return book_all(region, own);
    add_wrapping(*totals_of(region), cpu_time(at - stamp, computes, at, own, false));
  }
  /// Adds `times` what was counted.
  void add(std::uint32_t region, const std::int64_t* counted, std::int64_t times) noexcept;
  void add_cpu_ns(std::uint32_t region, std::int64_t ns) noexcept;
  /// Drops the counts since the last boundary.
  void disregard() noexcept;
  void read_step() noexcept;
  /// Charges the counts outside all regions since the last claim to `region`; 0: to none.
  void claim_outside(std::uint32_t region) noexcept;

  /// How many are read at every boundary.
  int count() const noexcept { return n_; }
  /// Which of them is cpu_time; -1: none.
  int cpu() const noexcept { return cpu_; }
  /// CPU time is the only counter and is not read for brief intervals, whose CPU time is taken to equal the elapsed
  /// time.
  bool brief_by_ticks() const noexcept { return brief_by_ticks_; }
  /// Read at boundaries; null if this thread cannot count.
  CounterReader* boundary() const noexcept { return boundary_; }

  // ---- by the thread that ends steps
  std::int64_t total(std::uint32_t region, int counter) const noexcept {
    const std::size_t place =
        static_cast<std::size_t>(region) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(counter);
    return totals_.load(std::memory_order_acquire)[place].load(std::memory_order_acquire);
  }
  int step_count() const noexcept { return n_step_; }
  std::int64_t step_total(int counter) const noexcept { return step_totals_[counter].load(std::memory_order_acquire); }
  /// Bit per counter, first those at boundaries: fell other than by wrapping.
  std::uint32_t fallen() const noexcept { return fallen_.load(std::memory_order_relaxed); }
  std::uint64_t cpu_readings() const noexcept { return cpu_readings_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t>* totals_of(std::uint32_t region) noexcept {
    return totals_.load(std::memory_order_relaxed) + static_cast<std::size_t>(region) * static_cast<std::size_t>(n_);
  }
  /// 64-bit counters and their sums may wrap; differences of the sums are still right.
  static void add_wrapping(std::atomic<std::int64_t>& total, std::int64_t delta) noexcept {
    const auto sum =
        static_cast<std::uint64_t>(total.load(std::memory_order_relaxed)) + static_cast<std::uint64_t>(delta);
    total.store(static_cast<std::int64_t>(sum), std::memory_order_release);
  }
  /// CPU time, in nanoseconds, of the `passed` ticks up to `at`, `own` of which were the library's.  Reading the CPU
  /// clock costs ten times as much as the rest of a boundary, so it is read only for long intervals or if `exactly` is
  /// set; `at` then moves behind the reading.  A long interval corrects the estimates of the brief ones since the last
  /// reading.
  std::int64_t cpu_time(std::uint64_t passed, bool computes, std::uint64_t& at, std::uint64_t& own,
                        bool exactly) noexcept {
    if (exactly ||
        static_cast<double>(passed) * tick_rate().seconds_per_tick >= (computes ? brief_computing : brief_waiting))
      return read_cpu_time(computes, at, own);
    cpu_ahead_ += ns_of(passed);
    return ns_of(passed - own);
  }
  std::int64_t read_cpu_time(bool computes, std::uint64_t& at, std::uint64_t& own) noexcept;
  void book_all(std::uint32_t region, std::uint64_t own) noexcept;
  std::int64_t counted_since(std::int64_t& last, std::int64_t now, int bit) noexcept;

  // An interval no longer than this is taken to be uninterrupted: its CPU time equals its duration.  Waiting ranks may
  // yield their core briefly; computing ones lose it for longer.
  static constexpr double brief_computing = 5e-6, brief_waiting = 1.5e-6;

  bool open_ = false;
  bool brief_by_ticks_ = false;
  int n_ = 0, n_step_ = 0;
  int cpu_ = -1;
  CounterReader* boundary_ = nullptr;
  CounterReader* at_step_ = nullptr;
  std::atomic<std::atomic<std::int64_t>*> totals_{nullptr};  ///< [room * n_]
  std::int64_t stamp_[max_metrics] = {};                     ///< last readings at boundaries
  std::int64_t cpu_ahead_ = 0;                               ///< nanoseconds booked by ticks since it was read last
  std::atomic<std::uint64_t> cpu_readings_{0};
  std::uint32_t step_values_ = 0;  ///< bit per step counter: a state, not a count
  std::int64_t step_stamp_[max_metrics] = {};
  std::atomic<std::int64_t> step_totals_[max_metrics] = {};
  std::atomic<std::uint32_t> fallen_{0};
  std::int64_t claimed_[max_metrics] = {};                            ///< of what was counted outside all regions
  std::unique_ptr<CounterReader> readers_[2];                         ///< at boundaries, at steps
  std::vector<std::unique_ptr<std::atomic<std::int64_t>[]>> arrays_;  ///< the outgrown ones, too: see ThreadSlot
};

}  // namespace effort::measure
