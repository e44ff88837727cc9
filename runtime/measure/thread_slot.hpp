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
/// The reader must not see a region's total together with the stamp of another moment: `stamp` is 0 while the owner
/// changes anything, and serves as the version of a sequence lock otherwise.
struct alignas(64) ThreadSlot {
  // Owner's hot line.
  std::atomic<std::uint32_t> limit{0};    ///< ids 1 .. limit may begin; 0 makes every begin take the slow path
  std::atomic<std::uint32_t> current{outside};
  std::atomic<std::uint64_t> stamp{0};
  std::atomic<std::atomic<std::uint64_t>*> ticks{nullptr};     ///< [capacity] by region
  std::uint32_t depth = 0;
  int n_counters = 0;
  std::atomic<std::atomic<std::int64_t>*> counters{nullptr};   ///< [capacity * n_counters]
  BoundaryCounters boundary;
  std::int64_t counter_stamp[max_metrics] = {};
  std::uint32_t stack[max_depth] = {};

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

/// Moves the time since the last boundary to the current region and makes `next` the current one.
inline void switch_region(ThreadSlot& s, std::uint32_t next) noexcept {
  const std::uint32_t current = s.current.load(std::memory_order_relaxed);
  const std::uint64_t stamp = s.stamp.load(std::memory_order_relaxed);
  s.stamp.store(0, std::memory_order_relaxed);
  if (__builtin_expect(s.n_counters != 0, 0)) {
    std::int64_t now[max_metrics];
    s.boundary.read(s.boundary.self, now);
    std::atomic<std::int64_t>* cell =
        s.counters.load(std::memory_order_relaxed) + static_cast<std::size_t>(current) * s.n_counters;
    for (int c = 0; c < s.n_counters; ++c) {
      cell[c].store(cell[c].load(std::memory_order_relaxed) + now[c] - s.counter_stamp[c], std::memory_order_release);
      s.counter_stamp[c] = now[c];
    }
  }
  std::atomic<std::uint64_t>& cell = s.ticks.load(std::memory_order_relaxed)[current];
  const std::uint64_t now = ticks();
  cell.store(cell.load(std::memory_order_relaxed) + (now - stamp), std::memory_order_release);
  s.current.store(next, std::memory_order_release);
  s.stamp.store(now, std::memory_order_release);
}

/// The calling thread's slot; null before its first call and after finalize.  Initial-exec: the library is linked,
/// not loaded late, so a read is one instruction.
extern thread_local ThreadSlot* this_thread_slot __attribute__((tls_model("initial-exec")));

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
