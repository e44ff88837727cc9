// What one host thread measures: written by that thread alone, read by the one that ends steps.
#pragma once

#include "runtime/measure/clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace effort::measure {

inline constexpr std::uint32_t max_depth = 128;
inline constexpr std::uint32_t max_units = 32;
inline constexpr std::uint32_t max_metrics = 32;
inline constexpr std::uint32_t inline_layout = 1;  ///< of the front of ThreadSlot
inline constexpr std::uint32_t outside = 0;  ///< the cell that takes time spent in no region; never a host's id

/// Counters other than the clock that are read at every region boundary (thread CPU time; an adapter's events).
struct BoundaryCounters {
  int count = 0;
  void (*read)(void* self, std::int64_t* values) = nullptr;  ///< cumulative values of the calling thread
  void* self = nullptr;
};

/// Cumulative totals of one thread.  The owner adds with plain loads and stores (relaxed or release atomics, which
/// cost nothing on x86); nothing is ever reset, so that the reader only takes differences.
///
/// At a boundary the owner stores `stamp`, then `current`, then the finished region's total; the reader loads
/// `current`, the total, then `stamp`.  Whatever falls between is seen too small by at most the time that the owner
/// is about to add, never twice, and is there at the next look.
struct alignas(64) ThreadSlot {
  // The front is what <effort/effort_inline.h> sees: its layout is checked where both are known (capi).
  std::atomic<std::uint32_t> layout{0};   ///< inline_layout where nothing but the TSC is read at a boundary; else 0
  std::atomic<std::uint32_t> limit{0};    ///< ids 1 .. limit may begin; 0 makes every begin take the slow path
  std::atomic<std::uint32_t> current{outside};
  std::uint32_t depth = 0;
  std::atomic<std::uint64_t> stamp{0};
  std::atomic<std::atomic<std::uint64_t>*> ticks{nullptr};     ///< [capacity] by region
  std::uint32_t* stack = open_regions;    ///< [max_depth] the regions around the current one

  int n_counters = 0;
  std::atomic<std::atomic<std::int64_t>*> counters{nullptr};   ///< [capacity * n_counters]
  BoundaryCounters boundary;
  std::int64_t counter_stamp[max_metrics] = {};
  std::uint32_t open_regions[max_depth] = {};

  // Of what ran up outside all regions, how much claim_outside has given to one.
  std::uint64_t outside_claimed = 0;
  std::int64_t outside_counters_claimed[max_metrics] = {};

  std::atomic<double> work[max_units] = {};
  std::atomic<std::atomic<double>*> metric[max_metrics] = {};  ///< [capacity] by region; null until used

  std::uint32_t capacity = 0;             ///< regions that the arrays have room for
  std::atomic<std::uint64_t> session{0};  ///< generation of the session that prepared this slot
  std::atomic<bool> owned{false};

  // Arrays that were outgrown: the reader may still look at them, so they live as long as the slot (at most as
  // much memory again).
  std::vector<std::unique_ptr<std::atomic<std::uint64_t>[]>> tick_arrays;
  std::vector<std::unique_ptr<std::atomic<std::int64_t>[]>> counter_arrays;
  std::vector<std::unique_ptr<std::atomic<double>[]>> metric_arrays;
};

/// Moves the time up to `now` to the current region and makes `next` the current one.
inline void switch_region_at(ThreadSlot& s, std::uint32_t next, std::uint64_t now) noexcept {
  std::atomic<std::uint64_t>& cell = s.ticks.load(std::memory_order_relaxed)[s.current.load(std::memory_order_relaxed)];
  const std::uint64_t stamp = s.stamp.load(std::memory_order_relaxed);
  s.stamp.store(now, std::memory_order_release);
  s.current.store(next, std::memory_order_release);
  cell.store(cell.load(std::memory_order_relaxed) + (now - stamp), std::memory_order_release);
}

/// The same up to this moment, counters included.
void switch_region(ThreadSlot& s, std::uint32_t next) noexcept;

/// Gives what ran up outside all regions since the last claim, up to the last boundary, to `region`, which only now is
/// known (0: to nobody).  Ticks only: for slots without counters.
inline void claim_outside_ticks(ThreadSlot& s, std::uint32_t region) noexcept {
  std::atomic<std::uint64_t>* cells = s.ticks.load(std::memory_order_relaxed);
  const std::uint64_t total = cells[outside].load(std::memory_order_relaxed);
  if (region != outside)
    cells[region].store(cells[region].load(std::memory_order_relaxed) + (total - s.outside_claimed), std::memory_order_release);
  s.outside_claimed = total;
}

/// The same, counters included.
void claim_outside(ThreadSlot& s, std::uint32_t region) noexcept;

/// The calling thread's slot; null before its first call and after finalize.  Initial-exec: the library is linked,
/// not loaded late, so a read is one instruction.
/// __thread, not thread_local: no check for dynamic initialisation either.  Exported for <effort/effort_inline.h>.
extern "C" __attribute__((visibility("default"), tls_model("initial-exec"))) __thread void* effort_this_thread_slot;

inline ThreadSlot* this_thread_slot() noexcept { return static_cast<ThreadSlot*>(effort_this_thread_slot); }

/// All slots of the process.  Slots are never freed (their memory is small and threads keep pointers): a thread
/// that ends gives its slot back, and the next new thread continues its totals.
class SlotRegistry {
 public:
  static SlotRegistry& instance();

  /// Gives the calling thread a slot and keeps it until the thread ends.  Locks; allocates.
  ThreadSlot& acquire();
  /// All slots ever made, in order of creation.
  std::vector<ThreadSlot*> slots();
  /// How many there are; never falls.  No lock.
  std::size_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  /// After the end of a session: every thread's next call takes the slow path.
  void retire_all();
  /// In the child of a fork, where only the calling thread exists.
  void abandon();

 private:
  std::atomic<std::size_t> count_{0};
  std::vector<std::unique_ptr<ThreadSlot>> all_;
};

/// Makes room for `regions` ids and `n_counters` counters and starts the clock; called by the owner.
void prepare_slot(ThreadSlot& slot, std::uint64_t session, std::uint32_t regions, const BoundaryCounters& boundary);

/// The owner's array of an application metric, made on first use.
std::atomic<double>* metric_cells(ThreadSlot& slot, std::uint32_t metric);

}  // namespace effort::measure
