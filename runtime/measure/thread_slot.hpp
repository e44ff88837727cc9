// What one host thread measures: written by that thread alone, read by the one that ends steps.
#pragma once

#include "runtime/measure/metric_source.hpp"
#include "runtime/measure/registry.hpp"
#include "runtime/measure/short_path.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace effort::measure {

inline constexpr std::uint32_t max_depth = 128;
inline constexpr std::uint32_t max_units = 32;
inline constexpr std::uint32_t max_metrics = 32;
inline constexpr std::uint32_t inline_layout = 3;  ///< of the front of ThreadSlot
inline constexpr std::uint32_t outside = 0;  ///< the cell that takes time spent in no region; never a host's id

// ThreadSlot::current and the stack hold a region with flags; a word without any is what the short path can leave.
inline constexpr std::uint32_t careful = 0x80000000;   ///< whoever leaves it takes the careful path (boundary.cpp)
inline constexpr std::uint32_t skipped = 0x40000000;   ///< begun without a look at the clock: its time goes to the region around it
inline constexpr std::uint32_t weighted = 0x20000000;  ///< timed in place of several that were skipped
inline constexpr std::uint32_t flags = careful | skipped | weighted;
constexpr std::uint32_t region_of(std::uint32_t word) { return word & ~flags; }

/// What a thread has run up in a region.
struct Cell {
  std::atomic<std::uint64_t> ticks{0};   ///< modulo 2^64; may fall where sampling corrects an estimate
  std::atomic<std::int64_t> begins{0};   ///< how often it was begun; the sign bit is set where not every time is timed
};
inline constexpr std::int64_t sampled_sign = std::numeric_limits<std::int64_t>::min();

/// Which of a region's calls are timed: of every `period` one, drawn anew for each block of calls.
struct Sampling {
  std::uint32_t period = 1, position = 0, pick = 0;
};
struct SamplingPlan {
  std::uint32_t size;                  ///< regions from this one on are timed always
  std::unique_ptr<Sampling[]> calls;   ///< [size] by region, where it and the region around are both part of the load or both not
  std::unique_ptr<Sampling[]> apart;   ///< [size] where one of them is: what is wrong here is wrong in the load
};

/// What the library itself takes of the time between two boundaries, in ticks.
struct OwnTicks {
  std::atomic<std::uint64_t> before_begin{0}, before_end{0};  ///< by the boundary that comes second
};

/// What the thread that ends steps asks of another thread, at that one's next boundary.
enum Request : std::uint32_t { read_step_counters = 1, resample = 2, stop_pricing = 4 };

/// Of a rebalance that is being priced: what its thread has spent in it.
struct Pricing {
  struct Spent {
    std::uint64_t ticks = 0;
    std::int64_t cpu_ns = 0;
  };
  bool open = false;
  bool marked = false;      ///< a region of another kind than COMPUTE was begun in it
  std::uint32_t depth = 0;  ///< regions around it
  Spent whole, waited;      ///< all of it; in regions of such kinds that were begun in it
};

/// Totals of one thread.  The owner adds with plain loads and stores (relaxed or release atomics, which cost nothing on
/// x86); nothing is ever reset, so that the reader only takes differences.
///
/// At a boundary the owner stores `stamp`, then `current`, then the finished region's total; the reader loads
/// `current`, the total, then `stamp`.  Whatever falls between is seen too small by at most the time that the owner
/// is about to add, never twice, and is there at the next look.
///
/// A signal handler may begin and end regions in the thread that it interrupts, wherever that one is (see short_path.hpp).
struct alignas(64) ThreadSlot {
  // The front is what <effort/effort_inline.h> sees: its layout is checked where both are known (capi).
  std::atomic<std::uint32_t> layout{0};   ///< inline_layout where the TSC is the clock and no region is sampled; else 0
  std::atomic<std::uint32_t> limit{0};    ///< ids 1 .. limit may take the short path; 0: all take the careful one
  std::atomic<std::uint32_t> current{outside};
  std::uint32_t depth = 0;
  std::atomic<std::uint64_t> stamp{0};
  std::atomic<Cell*> cells{nullptr};      ///< [capacity] by region
  std::uint32_t* stack = open_regions;    ///< [max_depth] the words around the current one
  OwnTicks own;                           ///< left out at each boundary; 0 until it has been measured

  std::atomic<std::uint32_t> known{0};    ///< ids 1 .. known have their cells; 0 before and after a session
  std::atomic<std::uint32_t> requests{0}; ///< bits of Request, set by others
  std::atomic<bool> busy{false};          ///< on the careful path; what a signal handler begins meanwhile is not seen
  bool short_path = false;                ///< nothing but the TSC is read at a boundary
  std::uint32_t unseen = 0;               ///< begun by signal handlers while busy, not ended yet
  std::uint32_t special = 0;              ///< open words that are skipped or weighted, and a rebalance that is being priced
  /// Where not 0, no call is skipped: in a rebalance that is being priced, and inside a call that stands for several, because the
  /// weights of both would multiply, and their errors.
  std::uint32_t all_timed = 0;
  std::uint32_t weight = 1;               ///< for so many calls the weighted word stands

  bool counters_open = false;             ///< by the owner, for the session
  int n_counters = 0;                                          ///< read at every boundary
  int cpu_counter = -1;                                        ///< which of them is cpu_time; -1: none
  std::atomic<std::atomic<std::int64_t>*> counters{nullptr};   ///< [capacity * n_counters]
  CounterReader* boundary = nullptr;      ///< owned by `readers`; null where this thread cannot count
  std::int64_t counter_stamp[max_metrics] = {};
  bool brief_by_ticks = false;            ///< CPU time is the one counter, and is read only where more than a moment has passed
  std::int64_t cpu_ahead = 0;             ///< nanoseconds booked by ticks since it was read last
  std::atomic<std::uint64_t> cpu_readings{0};
  int n_step_counters = 0;                                     ///< read once a step
  CounterReader* at_step = nullptr;
  std::uint32_t step_values = 0;          ///< bit per step counter: a state, not a count
  std::int64_t step_stamp[max_metrics] = {};
  std::atomic<std::int64_t> step_totals[max_metrics] = {};
  std::atomic<std::uint32_t> fallen{0};   ///< bit per counter, first those at boundaries: fell other than by wrapping
  std::uint32_t open_regions[max_depth] = {};

  std::atomic<SamplingPlan*> offered{nullptr};  ///< by the guard; taken over at `resample`
  SamplingPlan* sampling = nullptr;       ///< in force
  Pricing pricing;                        ///< while it is open, every boundary is exact
  std::uint64_t random = 0;
  std::atomic<std::int64_t> skips{0};     ///< calls that were not timed, counted by whole blocks

  // Of what ran up outside all regions, how much claim_outside has given to one.
  std::uint64_t outside_claimed = 0;
  std::int64_t outside_counters_claimed[max_metrics] = {};

  std::atomic<double> work[max_units] = {};
  std::atomic<std::atomic<double>*> metric[max_metrics] = {};  ///< [capacity] by region; null until used

  std::uint32_t capacity = 0;             ///< regions that the arrays have room for
  std::uint32_t number = 0;               ///< of the slot in its process
  const Registry* registry = nullptr;     ///< of the session; null: all regions are of kind COMPUTE
  std::atomic<std::uint64_t> session{0};  ///< generation of the session that prepared this slot
  std::atomic<bool> owned{false};
  std::unique_ptr<CounterReader> readers[2];  ///< of the session: at boundaries, at steps

  // Arrays that were outgrown: the reader may still look at them, so they live as long as the slot (at most as
  // much memory again).
  std::vector<std::unique_ptr<Cell[]>> cell_arrays;
  std::vector<std::unique_ptr<std::atomic<std::int64_t>[]>> counter_arrays;
  std::vector<std::unique_ptr<std::atomic<double>[]>> metric_arrays;
  std::vector<std::unique_ptr<SamplingPlan>> plans;  ///< kept by the thread that ends steps
};

/// Gives what ran up outside all regions since the last claim, up to the last boundary, to `region`, which only now is
/// known (0: to nobody).  Ticks only: for slots without counters.
inline void claim_outside_ticks(ThreadSlot& s, std::uint32_t region) noexcept {
  Cell* cells = s.cells.load(std::memory_order_relaxed);
  const std::uint64_t total = cells[outside].ticks.load(std::memory_order_relaxed);
  if (region != outside) add_own(cells[region].ticks, total - s.outside_claimed);
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

/// What a session reads beside the clock.
struct SlotPlan {
  const SourceSet* boundary = nullptr;  ///< read at every boundary; may be null
  const SourceSet* at_step = nullptr;   ///< read once a step; may be null
  bool whole = false;                   ///< this thread reads what counts for the whole process
  const Registry* registry = nullptr;   ///< knows the regions' kinds
  bool brief_by_ticks = false;          ///< see ThreadSlot; `boundary` is cpu_time alone
};

/// Makes room for `regions` ids, opens the counters and starts the clock; called by the owner.
void prepare_slot(ThreadSlot& slot, std::uint64_t session, std::uint32_t regions, const SlotPlan& plan);

/// The owner's array of an application metric, made on first use.
std::atomic<double>* metric_cells(ThreadSlot& slot, std::uint32_t metric);

}  // namespace effort::measure
