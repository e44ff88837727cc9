// The measurement of a host thread's MPI calls, done by the wrappers.
#pragma once

#include "adapters/pmpi/calls/call_path.hpp"
#include "adapters/pmpi/calls/calls.hpp"
#include "adapters/pmpi/messages/messages.hpp"
#include "adapters/pmpi/polling.hpp"
#include "runtime/measure/boundary.hpp"
#include "runtime/thread_end.hpp"

#include "effort/effort.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace effort::pmpi {

// Variables that every call reads are hidden, so that they are accessed directly rather than through the global offset
// table.
#pragma GCC visibility push(hidden)

/// In an explicitly instrumented host, a gap shorter than this is added to the next one (ticks).
extern std::uint64_t least_gap;
/// Computation of at least this length justifies reading the CPU clock (ticks).
extern std::uint64_t long_computation;
/// In units of 2^-32 ns.  Times are converted without floating point, because wrappers run in the host's environment.
extern std::int64_t ns_per_tick;

/// While steps are being detected, computation is compared in CPU time, which is meaningful even on oversubscribed
/// cores.
extern bool steps_want_cpu_time;

/// Whether wrappers measure: from MPI_Init to MPI_Finalize, on all ranks or on none.
extern bool armed;

#pragma GCC visibility pop

inline std::int64_t ns_of_ticks(std::int64_t ticks) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(Wide{ticks} * ns_per_tick >> 32);
}
inline std::int64_t ticks_of_ns(std::int64_t ns) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>((Wide{ns} << 32) / ns_per_tick);
}

/// A call path of one thread, with the ids of its regions in the present session.
struct Site {
  const void* return_address = nullptr;
  const Path* path = nullptr;
  Call call = Call::count;
  bool splits = false;
  std::uint8_t reads =
      most_reads;  ///< further readings of the CPU clock after this call, unless one finds long computation
  static constexpr std::uint8_t most_reads = 64;
  effort_region_id region = 0;  ///< of the time inside the call
  effort_region_id pair = 0;    ///< of the computation between this call and `then`
  Site* then = &nowhere;        ///< the call that came next the last time; `nowhere` unless it and `pair` have regions
  Site* follower = &nowhere;    ///< while events are recorded: the call that came next, whether it splits or not
  std::unique_ptr<Site> next;   ///< same place in the table
  Trail trail;

  /// Whether the present call is at this site.
  bool is(Call other, const void* from, const std::byte* cfa) const {
    if (__builtin_expect(return_address != from || call != other, 0)) return false;
    return __builtin_expect(holds(trail, cfa), 1);
  }

  static Site nowhere;  ///< matches no call
};

class MessageCall;

/// The state of a thread.  Created at its first call and freed with it.
class Thread {
 public:
  Thread();

  /// Prepares for the present session; false if there is none.
  bool prepare();
  bool ready(const measure::ThreadSlot* slot) const {
    return slot && slot->in_session() && slot->session() == session_;
  }

  /// Null if it is new.
  Site* known_site(Call call, const void* return_address, const std::byte* cfa) const;
  /// Null if out of memory.
  Site* site(Call call, const void* return_address, const std::byte* cfa);

  /// The region of the computation between the last call that split and one from this site; 0 if it cannot be
  /// registered, for example because memory has run out.
  effort_region_id pair(Site& site) noexcept { return last->then == &site ? last->pair : find_pair(site); }
  effort_region_id pair(const Path& to) noexcept;

  /// Whether the time between the last call that split and one from this site was waiting: both are polls at one place,
  /// and the first one found nothing.  @param now  when the gap ended
  bool waited(const Site& site, std::uint64_t gap, std::uint64_t now) {
    if (polled_in_vain && last->path == site.path) return polling.waited(gap, now);
    polling.restart(now);
    return false;
  }

  /// From now on, computation begins at this path, which does not belong to a call.
  void pass(const Path& landmark);

  /// Records that a call was left when the slot's stamp was `stamp`.  If the next call must not take the short path
  /// (ShortPath::enter), the stamp is recorded one tick early.
  void left_at(std::uint64_t stamp, bool short_path) { left = short_path ? stamp : stamp - 1; }

  /// Measures the computation between two calls while steps are being detected.  If a recent computation after the same
  /// call was long, its CPU time is measured.  Otherwise its elapsed time is used, because reading the CPU clock would
  /// cost too much.
  void start_computation(Site& site) {
    ++calls;
    before_ = &site;
    cpu_left_ = not_read;
    if (__builtin_expect(site.reads > 0, 0)) read_cpu_clock(site);
  }
  bool computation_is_brief(std::uint64_t gap) const { return cpu_left_ == not_read && gap < long_computation; }
  void count_computation(std::uint64_t gap) {
    if (computation_is_brief(gap))
      computed += static_cast<std::int64_t>(gap);
    else
      count_long_gap(gap);
  }

  int nesting = 0;                   ///< wrappers that this thread is in
  bool polled_in_vain = false;       ///< its last poll found nothing
  Polling polling;                   ///< of polls in vain
  bool begun = false;                ///< set by enter_carefully()
  bool main = false;                 ///< it called MPI_Init
  bool driving = false;              ///< it ends a step on behalf of the host
  Site* last = &landmark_;           ///< the last call that split, or landmark
  Site* previous = &landmark_;       ///< the last call of any kind on the recorded path
  std::uint64_t per_completion = 0;  ///< approximate cost of recording a completion, ticks
  std::uint32_t completing = 0;      ///< calls so far that recorded completions
  std::uint64_t left = 0;  ///< the clock when the last call was left; if it is the slot's stamp, nothing happened since
  std::uint64_t entered = 0;  ///< the clock when the call under way was entered; not set on the short path
  std::shared_ptr<MessageCall> message_call;  ///< null until a call's messages are recorded
  std::int64_t computed = 0;                  ///< CPU time between calls so far, ticks, while steps are detected
  std::uint64_t calls = 0;                    ///< number of calls that split, while steps are detected

 private:
  static constexpr int places_bits = 10;
  static constexpr std::size_t places = std::size_t{1} << places_bits;
  static std::size_t place(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % places; }
  static std::size_t place_behind(std::size_t at, const void* address) {
    return (at + reinterpret_cast<std::uintptr_t>(address)) * 0x9E3779B97F4A7C15u >> (64 - places_bits);
  }

  /// Where on the stack the return address after `code` lies.  It is read only if the return address found is `code`:
  /// with other code, the place might lie beyond the stack's end, which is not known for a fiber.
  struct Behind {
    const void* code = nullptr;
    std::ptrdiff_t offset = 0;
  };

  /// The place for a new site in the table.  If the program calls MPI through one function of its own, all sites have
  /// the same return address.  Its place then becomes crowded, and further sites go to a place that also depends on the
  /// next frame.
  std::unique_ptr<Site>& free_place(const void* return_address, const Trail& trail);

  Site* add_site(Call call, const void* return_address, const std::byte* cfa);
  void read_cpu_clock(Site& site);
  void count_long_gap(std::uint64_t gap);
  effort_region_id find_pair(Site& site) noexcept;

  std::uint64_t session_ = 0;
  effort_region_id own_ = 0;          ///< region for the time spent determining call paths
  std::int64_t cpu_left_ = not_read;  ///< CPU time when the last call that split was left
  static constexpr std::int64_t not_read = -1, too_many_reads = -2;
  std::uint64_t cpu_reads_ = 0, first_read_ = 0;
  Site* before_ = nullptr;                  ///< the call after which the current computation began
  Site landmark_;                           ///< `last`, if that is not a call
  int refusals_ = 0;                        ///< number of sites and pairs for which memory ran out
  static constexpr int most_refusals = 64;  ///< each costs the host about as much time as creating a site
  const std::byte* stack_end_ = nullptr;
  std::unique_ptr<Site> table_[places];
  std::array<Behind, places> behind_{};                        ///< of crowded places
  std::unordered_map<std::uint64_t, effort_region_id> pairs_;  ///< by from << 32 | to
};

/// The calling thread's state; made by the first call.
extern EFFORT_IN_EVERY_THREAD __attribute__((visibility("hidden"))) __thread Thread* this_thread;
Thread& make_thread();
/// Creates it if necessary; returns false if memory runs out.
bool has_thread() noexcept;

/// The place of the host's call, for a wrapper's careful half.
struct Caller {
  const void* return_address;
  const std::byte* cfa;
};
extern EFFORT_IN_EVERY_THREAD __attribute__((visibility("hidden"))) __thread Caller caller;

/// Enter and leave a call, in every case.  Null: the call is not measured; otherwise Thread::begun and ::entered are
/// set.
Site* enter_carefully(Thread& thread, Call call, const void* return_address, const std::byte* cfa);
/// @param begun  its region was begun
void leave_carefully(Thread& thread, Site* site, bool begun, bool in_vain);

/// Drops the time since the last call was left: it is not charged to any region.
void disown(Thread& thread, measure::ThreadSlot& slot);

/// Encloses one call, in every case.  Construct it before the call, on a thread that has its state (has_thread), and
/// call done() afterwards.
class Passage {
 public:
  Passage(Call call, const void* return_address, const void* cfa)
      : thread_(*this_thread),
        outermost_(thread_.nesting == 0),
        site_(enter_carefully(thread_, call, return_address, static_cast<const std::byte*>(cfa))) {}
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

  /// Call it when the MPI call has returned.  @param in_vain  it was a poll that found nothing
  void done(bool in_vain = false) { leave_carefully(thread_, site_, thread_.begun, in_vain); }

  /// Whether the call is measured: not inside another call, and in a session.
  bool seen() const { return site_ != nullptr; }
  /// Not inside another call.
  bool outermost() const { return outermost_; }
  /// Null if it is not measured.
  const Site* site_or_null() const { return site_; }
  Thread& thread() const { return thread_; }
  const Site& site() const { return *site_; }

 private:
  Thread& thread_;
  const bool outermost_;
  Site* const site_;
};

/// The usual case: a call that ends a region of computation, follows the same call as last time, is outside all
/// regions, and needs only the clock.  The clock is read once on entry and once on exit.  The time since the last call
/// is charged directly to the pair of both calls.  Signal handlers may interrupt it like any boundary (short_path.hpp),
/// because a single instruction moves the stamp and detects them.
///
/// The entry calls no function, so the host's arguments need not be saved on the stack.  If the compiler cooperates, it
/// has no jumps.
template <Call call>
struct ShortPath {
  static constexpr bool polls = info(call).role == Role::poll;

  /// Enters a call at the time `now`.  Returns null and changes nothing if this is not the usual case.  A stamp equal
  /// to the last call's implies that the session is the same, no region is open, the call is not nested in another, and
  /// the wrappers measure.
  __attribute__((always_inline)) static Site* enter(Thread& thread, measure::ThreadSlot& slot,
                                                    const void* return_address, const std::byte* cfa,
                                                    std::uint64_t now) {
    const std::uint64_t before = slot.last_boundary();
    if (__builtin_expect(before != thread.left, 0)) {
      thread.entered = now;  // for the recorded path, which continues from here
      return nullptr;
    }
    // No lookup is needed: most calls follow the same call every time.
    Site* const site = thread.last->then;
    if (__builtin_expect(!site->is(call, return_address, cfa), 0)) return nullptr;
    if (__builtin_expect(!slot.short_path_open(), 0)) return nullptr;
    if (__builtin_expect(steps_want_cpu_time, 0)) {
      if (!thread.computation_is_brief(now - before)) return nullptr;
      thread.count_computation(now - before);
    }
    thread.nesting = 1;  // set first: calls that a signal handler makes from here on are nested in this one
    if (__builtin_expect(!measure::begin_outermost(slot, static_cast<std::uint32_t>(site->region), before, now), 0)) {
      thread.nesting = 0;
      if (steps_want_cpu_time) thread.computed -= static_cast<std::int64_t>(now - before);  // close_gap will count it
      return nullptr;
    }
    const std::uint64_t gap = now - before;
    // The slot has had room for the site's regions since the site was made.
    const bool waited = polls && thread.waited(*site, gap, now);
    measure::charge(slot, static_cast<std::uint32_t>(waited ? site->region : thread.last->pair), gap, waited);
    return site;
  }

  /// Returns false and changes nothing if another boundary came in between.
  __attribute__((always_inline)) static bool leave(Thread& thread, measure::ThreadSlot& slot, Site& site, bool in_vain,
                                                   std::uint64_t now) {
    if (__builtin_expect(!measure::end_outermost(slot, static_cast<std::uint32_t>(site.region), now), 0)) return false;
    thread.last = &site;
    if (polls) thread.polled_in_vain = in_vain;  // meaningless if the last call was another one
    thread.left = now;
    thread.nesting = 0;
    return true;
  }
};

/// The duration of the call that has just been left, which was entered and whose region was begun on the careful path.
inline std::uint64_t ticks_in_call(const Thread& thread, const measure::ThreadSlot& slot) {
  return slot.last_boundary() - thread.entered;
}

}  // namespace effort::pmpi
