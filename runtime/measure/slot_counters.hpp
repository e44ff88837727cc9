// The counters that one thread reads besides the clock.
#pragma once

#include "runtime/measure/clock.hpp"
#include "runtime/measure/metric_source.hpp"
#include "runtime/measure/registry.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace effort::recording {
class Memory;
}

namespace effort::measure {

inline constexpr std::uint32_t max_metrics = 32;

/// The counters that a session reads besides the clock.
struct SlotPlan {
  const SourceSet* boundary = nullptr;  ///< read at every boundary; may be null
  const SourceSet* at_step = nullptr;   ///< read once a step; may be null
  bool whole = false;                   ///< this thread reads the counters that cover the whole process
  const std::shared_ptr<const Registry>* registry = nullptr;  ///< has the regions' kinds; the slot shares it
  bool brief_by_ticks = false;          ///< see SlotCounters::brief_by_ticks; `boundary` is cpu_time alone
  recording::Memory* events = nullptr;  ///< where the thread records its events; null: it records none
};

/// The counters of a thread and their totals.  Those read at region boundaries have a total per region.  The owner
/// writes them and the thread that ends steps reads them.  Totals are never reset within a session: the reader takes
/// differences.
class SlotCounters {
 public:
  // ---- by the owner, outside boundaries
  /// Opens the session's counters in the calling thread and takes their first readings.
  void start(const SlotPlan& plan);
  /// Allocates totals for `room` regions, each with the counters that `plan` reads at boundaries.
  void make_room(std::uint32_t room, const SlotPlan& plan);
  bool has_room_for(std::uint32_t room, const SlotPlan& plan) const noexcept {
    return totals_for(room, plan) <= n_totals_;
  }
  bool is_open() const noexcept { return open_; }
  /// Closes the counters.  Their totals and their number stay available to the reader.
  void close();
  /// In the child of a fork: drops the readers without closing them, because they count the parent.
  void abandon() noexcept;
  /// Called before the thread ends.
  void thread_ends() noexcept;
  /// Prepares for a new session: closed, all totals zero.
  void reset();

  // ---- by the owner, at boundaries
  /// Stores the counts since the last call in counted[count()] and returns the present moment.  `passed` ticks have
  /// elapsed up to it.  The library itself used `own` of them, to which the cost of reading the CPU clock is added.
  /// @param exactly  reads the CPU clock however short the interval was
  std::uint64_t take(std::uint64_t stamp, bool computes, std::uint64_t& own, bool exactly,
                     std::int64_t* counted) noexcept;
  /// Adds the counts since the last boundary directly to the region's totals; not if brief_by_ticks().  Only for a
  /// thread that can count.
  void book_all(std::uint32_t region, std::uint64_t own) noexcept {
    std::int64_t now[max_metrics];
    boundary_->read(now);
    auto* const total = totals_of(region);
    for (int c = 0; c < n_; ++c) {
      std::int64_t& last = stamp_[c];
      auto delta = static_cast<std::int64_t>(static_cast<std::uint64_t>(now[c]) - static_cast<std::uint64_t>(last));
      if (__builtin_expect(last == no_reading || now[c] < last, 0))
        delta = counted_since(last, now[c], c);
      else
        last = now[c];
      add_wrapping(total[c], c == cpu_ ? delta - ns_of(own) : delta);
    }
  }
  /// The same if brief_by_ticks(), up to the moment `at`.
  void book_cpu_time(std::uint32_t region, std::uint64_t stamp, bool computes, std::uint64_t& at,
                     std::uint64_t& own) noexcept {
    add_wrapping(*totals_of(region), cpu_time(at - stamp, computes, at, own, false));
  }
  /// Adds the counts multiplied by `times`.
  void add(std::uint32_t region, const std::int64_t* counted, std::int64_t times) noexcept;
  void add_cpu_ns(std::uint32_t region, std::int64_t ns) noexcept;
  /// Discards the counts since the last boundary: they are charged to no region.
  void disregard() noexcept;
  void read_step() noexcept;
  /// Charges the counts outside all regions since the last claim to `region`; 0: to none.
  void claim_outside(std::uint32_t region) noexcept;

  /// Number of counters read at every boundary.
  int count() const noexcept { return n_; }
  /// Index of cpu_time among them; -1: none.
  int cpu() const noexcept { return cpu_; }
  /// CPU time is the only counter, and it is read only after longer intervals.  For short intervals, elapsed time is
  /// used as CPU time.
  bool brief_by_ticks() const noexcept { return brief_by_ticks_; }
  /// The reader for boundaries; null if this thread cannot count.
  CounterReader* boundary() const noexcept { return boundary_; }

  // ---- by the thread that ends steps
  std::int64_t total(std::uint32_t region, int counter) const noexcept {
    const std::size_t place =
        static_cast<std::size_t>(region) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(counter);
    return totals_.load(std::memory_order_acquire)[place].load(std::memory_order_acquire);
  }
  int step_count() const noexcept { return n_step_; }
  std::int64_t step_total(int counter) const noexcept { return step_totals_[counter].load(std::memory_order_acquire); }
  /// One bit per counter, those at boundaries first: set if the counter fell other than by wrapping.
  std::uint32_t fallen() const noexcept { return fallen_.load(std::memory_order_relaxed); }
  std::uint64_t cpu_readings() const noexcept { return cpu_readings_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t>* totals_of(std::uint32_t region) noexcept {
    return totals_.load(std::memory_order_relaxed) + static_cast<std::size_t>(region) * static_cast<std::size_t>(n_);
  }
  /// 64-bit counters and their sums may wrap.  The differences that readers take are still right.
  static void add_wrapping(std::atomic<std::int64_t>& total, std::int64_t delta) noexcept {
    const auto sum =
        static_cast<std::uint64_t>(total.load(std::memory_order_relaxed)) + static_cast<std::uint64_t>(delta);
    total.store(static_cast<std::int64_t>(sum), std::memory_order_release);
  }
  /// CPU time, in nanoseconds, of the `passed` ticks up to `at`, of which the library used `own`.  The CPU clock costs
  /// ten times as much as the rest of a boundary, so it is read only after longer intervals or if `exactly` is set;
  /// `at` then moves to the end of the reading.  The next reading corrects the errors of the short intervals since the
  /// previous one.
  std::int64_t cpu_time(std::uint64_t passed, bool computes, std::uint64_t& at, std::uint64_t& own,
                        bool exactly) noexcept {
    const std::int64_t ns = ns_of(passed);
    if (exactly || ns >= (computes ? brief_computing_ns : brief_waiting_ns)) return read_cpu_time(computes, at, own);
    cpu_ahead_ += ns;
    return ns_of(passed - own);
  }
  static std::size_t totals_for(std::uint32_t room, const SlotPlan& plan) noexcept;
  std::int64_t read_cpu_time(bool computes, std::uint64_t& at, std::uint64_t& own) noexcept;
  std::int64_t counted_since(std::int64_t& last, std::int64_t now, int bit) noexcept;

  // An interval up to this length is taken as uninterrupted: its CPU time equals its elapsed time.  A waiting rank may
  // yield its core for a moment; a computing rank that loses its core loses it for longer.
  static constexpr std::int64_t brief_computing_ns = 5000, brief_waiting_ns = 1500;

  bool open_ = false;
  bool brief_by_ticks_ = false;
  int n_ = 0, n_step_ = 0;
  int cpu_ = -1;
  CounterReader* boundary_ = nullptr;
  CounterReader* at_step_ = nullptr;
  std::atomic<std::atomic<std::int64_t>*> totals_{nullptr};  ///< [n_totals_], of which [room * n_] are used
  std::size_t n_totals_ = 0;
  std::int64_t stamp_[max_metrics] = {};  ///< last readings at boundaries
  std::int64_t cpu_ahead_ = 0;            ///< nanoseconds charged by ticks since the last reading
  std::atomic<std::uint64_t> cpu_readings_{0};
  std::uint32_t step_values_ = 0;  ///< bit per step counter: a state, not a count
  std::int64_t step_stamp_[max_metrics] = {};
  std::atomic<std::int64_t> step_totals_[max_metrics] = {};
  std::atomic<std::uint32_t> fallen_{0};
  std::int64_t claimed_[max_metrics] = {};                            ///< part of the counts outside all regions
  std::unique_ptr<CounterReader> readers_[2];                         ///< at boundaries, at steps
  std::vector<std::unique_ptr<std::atomic<std::int64_t>[]>> arrays_;  ///< includes outgrown ones: see ThreadSlot
};

}  // namespace effort::measure
