// One passage of a host's thread through an MPI call: what the wrappers do around it.
#pragma once

#include "adapters/pmpi/call_path.hpp"
#include "adapters/pmpi/calls.hpp"
#include "runtime/measure/boundary.hpp"

#include "effort/effort.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace effort::pmpi {

// What every call looks at is reached directly, not through the table that exported names are reached through.
#pragma GCC visibility push(hidden)

/// A gap between two polls of the same place that is shorter is waiting, not computation.
extern std::uint64_t poll_gap;
/// A gap of an explicitly instrumented host that is shorter is kept for the next one.
extern std::uint64_t least_gap;
/// Computation that is worth a reading of the CPU clock.
extern std::uint64_t much;
extern double seconds_per_tick;

/// While steps are looked for, computation is compared: in CPU time, which says as much on crowded cores.
extern bool steps_want_cpu_time;

/// Whether wrappers measure: from MPI_Init to MPI_Finalize, unless something is wrong.
extern bool armed;

#pragma GCC visibility pop

/// A call path as one thread has met it, with the ids of its regions in the session at hand.
struct Site {
  const void* return_address = nullptr;
  const Path* path = nullptr;
  Call call = Call::count;
  bool splits = false;
  std::uint8_t reads =
      most_reads;  ///< so many more readings of the CPU clock after this call, unless one finds much computation
  static constexpr std::uint8_t most_reads = 64;
  effort_region_id region = 0;  ///< of the time inside
  effort_region_id pair = 0;    ///< of the computation between this call and `then`
  Site* then = &nowhere;        ///< the call that came next the last time; nowhere without a region of it and `pair`
  std::unique_ptr<Site> next;   ///< same place in the table
  Trail trail;

  /// Whether a call that is under way stands here.
  bool is(Call other, const void* from, const std::byte* cfa) const {
    if (__builtin_expect(return_address != from || call != other, 0)) return false;
    return __builtin_expect(holds(trail, cfa), 1);
  }

  static Site nowhere;  ///< no call stands there
};

/// What a thread remembers.  Made at its first call; freed with it.
class Thread {
 public:
  Thread();

  /// Ready for the session at hand; false without one.
  bool prepare();
  bool ready(const measure::ThreadSlot* slot) const {
    return slot && slot->known.load(std::memory_order_relaxed) > 0 && slot->session() == session_;
  }

  /// Null where memory has run out.
  Site* site(Call call, const void* return_address, const std::byte* cfa);

  /// The region of the computation between the last call that split and one from this site.
  effort_region_id pair(Site& site) { return last->then == &site ? last->pair : find_pair(site); }
  effort_region_id pair(const Path& to);

  /// From here on, computation begins at this path, which is no call's.
  void pass(const Path& landmark);

  /// A call was left when the slot's stamp was `stamp`.  Where the next one is not to take the usual way
  /// (UsualWay::enter), that is remembered a tick early.
  void left_at(std::uint64_t stamp, bool usual) { left = usual ? stamp : stamp - 1; }

  /// Around the computation between two calls, while that is of interest: its CPU time where one of the last ones after
  /// the same call was long; otherwise its elapsed time, because reading the CPU clock would cost more than it says.
  void start_computation(Site& site) {
    before_ = &site;
    cpu_left_ = not_read;
    if (__builtin_expect(site.reads > 0, 0)) read_cpu_clock(site);
  }
  bool computation_is_brief(std::uint64_t gap) const { return cpu_left_ == not_read && gap < much; }
  void count_computation(std::uint64_t gap) {
    if (computation_is_brief(gap))
      computed += static_cast<std::int64_t>(gap);
    else
      count_much(gap);
  }

  int nesting = 0;              ///< wrappers that this thread is in
  bool polled_in_vain = false;  ///< it asked, and the answer was no
  bool begun = false;           ///< what enter_carefully tells
  bool main = false;            ///< it called MPI_Init
  bool driving = false;         ///< it ends a step in the name of the host
  Site* last = &landmark_;      ///< the last call that split, or landmark
  std::uint64_t left =
      0;  ///< the clock when it was left; as long as the slot's stamp is the same, nothing happened since
  std::uint64_t entered = 0;  ///< the clock when the call under way was entered; set on the careful way
  std::int64_t computed = 0;  ///< CPU time between calls so far, ticks, while that is of interest

 private:
  static constexpr std::size_t places = 1024;
  static std::size_t place(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % places; }

  Site* add_site(Call call, const void* return_address, const std::byte* cfa);
  void read_cpu_clock(Site& site);
  void count_much(std::uint64_t gap);
  effort_region_id find_pair(Site& site);

  std::uint64_t session_ = 0;
  effort_region_id own_ = 0;          ///< takes the time in which call paths are made out
  std::int64_t cpu_left_ = not_read;  ///< CPU time when the last call that split was left
  static constexpr std::int64_t not_read = -1, too_many_reads = -2;
  std::uint64_t cpu_reads_ = 0, first_read_ = 0;
  Site* before_ = nullptr;  ///< the call that the computation at hand began after
  Site landmark_;           ///< `last`, where that is no call
  const std::byte* stack_end_ = nullptr;
  std::unique_ptr<Site> table_[places];
  std::unordered_map<std::uint64_t, effort_region_id> pairs_;  ///< by from << 32 | to
};

/// The calling thread's state; made by the first call.  Initial-exec: the library is linked or preloaded.
extern __attribute__((tls_model("initial-exec"), visibility("hidden"))) __thread Thread* this_thread;
Thread& make_thread();

/// Where the host called from, for a wrapper's careful half.
struct Caller {
  const void* return_address;
  const std::byte* cfa;
};
extern __attribute__((tls_model("initial-exec"), visibility("hidden"))) __thread Caller caller;

/// On the way into a call and out of it, for every case.  Null: the call is not seen; otherwise Thread::begun and
/// ::entered are set.
Site* enter_carefully(Thread& thread, Call call, const void* return_address, const std::byte* cfa);
/// @param begun  its region was begun
void leave_carefully(Thread& thread, Site* site, bool begun, bool in_vain);

/// What has passed since the last call was left is nobody's computation.
void disown(Thread& thread, measure::ThreadSlot& slot);

/// Around one call, for every case.  Construct before it, call done() after it.
class Passage {
 public:
  Passage(Call call, const void* return_address, const void* cfa)
      : thread_(this_thread ? *this_thread : make_thread()),
        site_(enter_carefully(thread_, call, return_address, static_cast<const std::byte*>(cfa))) {}
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

  /// The call has returned.  @param in_vain  a poll that found nothing
  void done(bool in_vain = false) { leave_carefully(thread_, site_, thread_.begun, in_vain); }

  /// Whether the call is seen at all: not within another, and in a session.
  bool seen() const { return site_ != nullptr; }
  Thread& thread() const { return thread_; }
  const Site& site() const { return *site_; }

 private:
  Thread& thread_;
  Site* const site_;
};

/// The usual case, a call that splits and follows the same call as the last time, outside all regions, with nothing but
/// the clock to read: one reading of it on the way in and one on the way out.  What has passed since the last call goes
/// straight to the pair of both.  It may be interrupted by signal handlers like any boundary (short_path.hpp): all is
/// decided by the one instruction that moves the stamp.
///
/// The way in calls no function: the host's arguments need not be put aside on the stack for that.  Nor does it jump,
/// compilers willing.
template <Call call>
struct UsualWay {
  static constexpr bool polls = info(call).role == Role::poll;

  /// There is room for a site's regions since it was made.
  static measure::Cell& cell(measure::ThreadSlot& slot, effort_region_id region) {
    return slot.cells.load(std::memory_order_relaxed)[static_cast<std::uint32_t>(region)];
  }

  /// At the moment `now`.  Null, with nothing changed, where this is not the usual case.  That the stamp is the one
  /// which the last call left says much: the session is the same, no region is open, this is no call from within a
  /// call, and the wrappers measure.
  __attribute__((always_inline)) static Site* enter(Thread& thread, measure::ThreadSlot& slot,
                                                    const void* return_address, const std::byte* cfa,
                                                    std::uint64_t now) {
    const std::uint64_t before = slot.stamp.load(std::memory_order_relaxed);
    if (__builtin_expect(before != thread.left, 0)) return nullptr;
    // Not looked up: most calls follow the same call every time.
    Site* const site = thread.last->then;
    if (__builtin_expect(!site->is(call, return_address, cfa), 0)) return nullptr;
    if (__builtin_expect(slot.limit.load(std::memory_order_relaxed) == 0, 0)) return nullptr;
    if (__builtin_expect(steps_want_cpu_time, 0)) {
      if (!thread.computation_is_brief(now - before)) return nullptr;
      thread.count_computation(now - before);
    }
    thread.nesting = 1;  // first: what a signal handler calls from here on is within this call
    if (__builtin_expect(!measure::begin_outermost(slot, static_cast<std::uint32_t>(site->region), before, now), 0)) {
      thread.nesting = 0;
      if (steps_want_cpu_time) thread.computed -= static_cast<std::int64_t>(now - before);  // close_gap will count it
      return nullptr;
    }
    const std::uint64_t gap = now - before;
    const bool waiting = polls && thread.polled_in_vain && thread.last->path == site->path && gap < poll_gap;
    const std::uint64_t own = waiting ? 0 : slot.own.before_begin.load(std::memory_order_relaxed);
    measure::add_own(cell(slot, waiting ? site->region : thread.last->pair).ticks, gap - own);
    return site;
  }

  /// False, with nothing changed, where something has come in between.
  __attribute__((always_inline)) static bool leave(Thread& thread, measure::ThreadSlot& slot, Site& site, bool in_vain,
                                                   std::uint64_t now) {
    if (__builtin_expect(!measure::end_outermost(slot, static_cast<std::uint32_t>(site.region), now), 0)) return false;
    thread.last = &site;
    if (polls) thread.polled_in_vain = in_vain;  // of no account where another call was the last
    thread.left = now;
    thread.nesting = 0;
    return true;
  }
};

/// That the call which has just been left took, entered on the careful way.
inline double seconds_in_call(const Thread& thread) {
  const measure::ThreadSlot* slot = measure::this_thread_slot();
  return thread.begun && slot
             ? static_cast<double>(slot->stamp.load(std::memory_order_relaxed) - thread.entered) * seconds_per_tick
             : 0;
}

}  // namespace effort::pmpi
