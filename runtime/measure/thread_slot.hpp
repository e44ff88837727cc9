// The measurements of one host thread.  Only that thread writes them; the thread that ends steps reads them.
#pragma once

#include "runtime/measure/short_path.hpp"
#include "runtime/measure/slot_amounts.hpp"
#include "runtime/measure/slot_counters.hpp"
#include "runtime/measure/slot_sampling.hpp"
#include "runtime/recording/stream.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace effort::measure {

inline constexpr std::uint32_t max_depth = 128;
inline constexpr std::uint32_t inline_layout = 3;  ///< of the front of ThreadSlot
inline constexpr std::uint32_t outside = 0;        ///< the cell for time spent in no region; never a host's id

// SlotFront::current and the stack hold a region with flags.  The short path can only leave a region without flags.
inline constexpr std::uint32_t careful = 0x80000000;  ///< must be left on the careful path (boundary.cpp)
inline constexpr std::uint32_t skipped =
    0x40000000;  ///< begun without reading the clock: its time is charged to the enclosing region
inline constexpr std::uint32_t weighted = 0x20000000;  ///< timed on behalf of several skipped calls
inline constexpr std::uint32_t flags = careful | skipped | weighted;
constexpr std::uint32_t region_of(std::uint32_t word) { return word & ~flags; }

/// A thread's totals in one region.
struct Cell {
  std::atomic<std::uint64_t> ticks{0};  ///< modulo 2^64; may fall when sampling corrects an estimate
  std::atomic<std::int64_t> begins{0};  ///< number of begins; the sign bit is set if not every call is timed
};
inline constexpr std::int64_t sampled_sign = std::numeric_limits<std::int64_t>::min();

/// The library's own share of the time between two region boundaries, in ticks.
struct OwnTicks {
  std::atomic<std::uint64_t> before_begin{0}, before_end{0};  ///< named after the later boundary
};

/// Requests from the thread that ends steps to another thread, which serves them at its next boundary.
enum Request : std::uint32_t { read_step_counters = 1, resample = 2, stop_pricing = 4, record_events = 8 };

/// A thread's time and counts in a rebalance that is being priced.
struct Pricing {
  struct Spent {
    std::uint64_t ticks = 0;
    std::int64_t cpu_ns = 0;
  };
  bool open = false;
  bool marked = false;      ///< a region of a kind other than COMPUTE was begun in it
  bool overlong = false;    ///< a step has ended in it: the host may have forgotten to end it
  std::uint32_t depth = 0;  ///< number of regions open around it
  Spent whole;              ///< in total
  Spent computed, waited;   ///< in COMPUTE regions and in regions of other kinds that were begun in it
};

/// The members that begin and end access on the short path; they fill one cache line.  <effort/effort_inline.h>
/// mirrors the members up to `own`; capi, which includes both, checks that the layouts agree.
struct SlotFront {
  std::atomic<std::uint32_t> layout{0};  ///< inline_layout if the TSC is the clock and no region is sampled; else 0
  std::atomic<std::uint32_t> limit{0};   ///< ids 1 .. limit may take the short path; 0: all take the careful one
  std::atomic<std::uint32_t> current{outside};
  std::uint32_t depth = 0;
  std::atomic<std::uint64_t> stamp{0};
  std::atomic<Cell*> cells{nullptr};       ///< [room] by region
  std::uint32_t* stack = nullptr;          ///< [max_depth] the words around the current one
  OwnTicks own;                            ///< subtracted at each boundary; 0 until it has been measured
  std::atomic<std::uint32_t> known{0};     ///< ids 1 .. known have cells; 0 before and after a session
  std::atomic<std::uint32_t> requests{0};  ///< bits of Request, set by other threads
};

/// Tells signal handlers that the thread is in the middle of a region boundary.  Regions that they begin meanwhile are
/// not measured but counted, so that the matching ends are recognized.
class HandlerGate {
 public:
  bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  void close() noexcept {
    closed_.store(true, std::memory_order_relaxed);
    fence();
  }
  void open() noexcept {
    fence();
    closed_.store(false, std::memory_order_relaxed);
    fence();
  }
  void begin_unseen() noexcept { ++unseen_; }
  void end_unseen() noexcept {
    if (unseen_ > 0) --unseen_;
  }
  void reset() noexcept {
    closed_.store(false, std::memory_order_relaxed);
    unseen_ = 0;
  }

 private:
  static void fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

  std::atomic<bool> closed_{false};
  std::uint32_t unseen_ = 0;  ///< regions begun by handlers while the gate was closed and not ended yet
};

/// Totals of one thread.  The owner adds with plain loads and stores (relaxed or release atomics, which cost nothing on
/// x86).  Nothing is ever reset: the reader takes differences.
///
/// At a boundary the owner stores `stamp`, then `current`, then the finished region's total.  The reader loads
/// `current`, the total, then `stamp`.  If a boundary falls in between, the reader misses at most the time that the
/// owner is about to add.  It never counts that time twice, and sees it at the next reading.
///
/// A signal handler may begin and end regions at any point in the thread that it interrupts (see short_path.hpp).
///
/// Outgrown arrays live as long as the slot, because the reader may still access them.
class alignas(64) ThreadSlot : public SlotFront {
 public:
  explicit ThreadSlot(std::uint32_t number = 0) : number_(number) { stack = open_regions_; }
  ThreadSlot(const ThreadSlot&) = delete;
  ThreadSlot& operator=(const ThreadSlot&) = delete;

  // ---- any thread
  /// Generation of the session that prepared the slot.
  std::uint64_t session() const noexcept { return session_.load(std::memory_order_acquire); }
  /// Number of the slot in its process.
  std::uint32_t number() const noexcept { return number_; }
  /// Requests an action of the owner at its next boundary.
  /// @param what  bits of Request
  void ask(std::uint32_t what) noexcept {
    requests.fetch_or(what, std::memory_order_release);
    limit.store(0, std::memory_order_relaxed);
    only_recording.store(false, std::memory_order_relaxed);
  }
  /// Sends the owner's next begin or end to the slow path.
  void retire() noexcept {
    limit.store(0, std::memory_order_relaxed);
    only_recording.store(false, std::memory_order_relaxed);
    known.store(0, std::memory_order_relaxed);
  }

  // ---- the owner
  /// Whether the session that prepared the slot is active.
  bool in_session() const noexcept { return known.load(std::memory_order_relaxed) > 0; }
  /// Whether the short path is open.  The innermost open region may still require the careful path.
  bool short_path_open() const noexcept { return limit.load(std::memory_order_relaxed) > 0; }
  /// When the last boundary was, in ticks.
  std::uint64_t last_boundary() const noexcept { return stamp.load(std::memory_order_relaxed); }
  /// Makes room for `regions` ids, opens the counters and starts the clock.  Allocates.
  void prepare(std::uint64_t session, std::uint32_t regions, const SlotPlan& plan);
  /// Whether a boundary only reads the TSC.
  bool short_path() const noexcept { return short_path_; }
  /// Begins to record what Stream::offer() has offered.  Boundaries then take the careful path.
  void record_events() noexcept {
    events.adopt(number_);
    if (events.on()) short_path_ = false;
  }
  std::uint32_t room() const noexcept { return room_; }
  Kind kind_of(std::uint32_t region) const noexcept {
    return registry_ ? registry_->region_kind(region) : Kind::compute;
  }
  /// Charges the time spent outside all regions, from the last claim to the last boundary, to `region` (0: to none),
  /// for callers that learn the region afterwards.  Ticks only: for slots without counters.
  void claim_outside_ticks(std::uint32_t region) noexcept {
    Cell* const all = cells.load(std::memory_order_relaxed);
    const std::uint64_t total = all[outside].ticks.load(std::memory_order_relaxed);
    if (region != outside) add_own(all[region].ticks, total - outside_claimed_);
    outside_claimed_ = total;
  }
  /// Forgets the session's registry.
  void leave_session() noexcept { registry_.reset(); }

  HandlerGate gate;
  /// Whether boundaries read the TSC, record events, and do nothing else; for recorded_boundary.hpp.  Set with the gate
  /// closed.
  std::atomic<bool> only_recording{false};
  SlotSampling sampling;
  Pricing pricing;  ///< while it is open, every call is timed
  SlotCounters counters;
  SlotAmounts amounts;
  recording::Stream events;  ///< on while the session records a trace

 private:
  friend class SlotRegistry;

  void clear();
  void make_room(std::uint32_t room, const SlotPlan& plan);

  bool short_path_ = false;
  std::uint32_t room_ = 0;  ///< regions that the arrays have room for
  const std::uint32_t number_;
  std::uint64_t outside_claimed_ = 0;
  /// Of the session; null: all regions are of kind COMPUTE.  Shared, because the session may end while its thread is at
  /// a boundary.
  std::shared_ptr<const Registry> registry_;
  std::atomic<std::uint64_t> session_{0};
  std::atomic<bool> owned_{false};
  std::uint32_t open_regions_[max_depth] = {};
  std::vector<std::unique_ptr<Cell[]>> cell_arrays_;
};

/// The calling thread's slot; null before its first call and after finalize.  The initial-exec model makes a read one
/// instruction, because the library is linked and not loaded late.  __thread instead of thread_local avoids the check
/// for dynamic initialization.  Exported for <effort/effort_inline.h>.
extern "C" __attribute__((visibility("default"), tls_model("initial-exec"))) __thread void* effort_this_thread_slot;

inline ThreadSlot* this_thread_slot() noexcept { return static_cast<ThreadSlot*>(effort_this_thread_slot); }

/// All slots of the process.  Slots are never freed: they are small, and threads keep pointers to them.  A thread
/// that ends returns its slot, and the next new thread continues its totals.
class SlotRegistry {
 public:
  static SlotRegistry& instance() noexcept;

  /// Assigns a slot to the calling thread until the thread ends.  Locks; allocates.
  /// @throws std::bad_alloc
  ThreadSlot& acquire();
  /// All slots ever created, in order of creation.
  std::vector<ThreadSlot*> slots();
  /// Number of slots; never decreases.  No lock.
  std::size_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  /// Called after a session ends: every thread's next call takes the slow path.
  void retire_all();
  /// Called in the child of a fork, where only the calling thread exists.
  void abandon();

 private:
  static void thread_ends(void*);

  std::atomic<std::size_t> count_{0};
  std::vector<std::unique_ptr<ThreadSlot>> all_;
};

}  // namespace effort::measure
