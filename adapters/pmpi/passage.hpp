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
  const void* return_address;
  const Path* path;
  Call call;
  bool splits = false;
  std::uint8_t reads = most_reads;    ///< so many more readings of the CPU clock after this call, unless one finds much computation
  static constexpr std::uint8_t most_reads = 64;
  effort_region_id region = 0;        ///< of the time inside
  const Path* from = nullptr;         ///< the last `pair` was made with this path before it
  effort_region_id pair = 0;          ///< of the computation between the two
  Trail trail;
  std::unique_ptr<Site> next;         ///< same place in the table
};

/// What a thread remembers.  Made at its first call; freed with it.
class Thread {
 public:
  Thread();

  /// Ready for the session at hand; false without one.
  bool prepare() noexcept;
  bool ready(const measure::ThreadSlot* slot) const {
    return slot && slot->session.load(std::memory_order_relaxed) == session_;
  }

  /// A site met before; null for a new one.
  Site* known_site(Call call, const void* return_address, const std::byte* cfa) const {
    for (Site* s = table_[place(return_address)].get(); s; s = s->next.get())
      if (s->return_address == return_address && s->call == call && holds(s->trail, cfa, stack_end_)) return s;
    return nullptr;
  }
  /// Null where memory has run out.
  Site* site(Call call, const void* return_address, const std::byte* cfa) {
    Site* const known = known_site(call, return_address, cfa);
    return __builtin_expect(known != nullptr, 1) ? known : add_site(call, return_address, cfa);
  }

  /// The region of the computation between the last call that split and one from this site.
  effort_region_id pair(Site& site) {
    return site.from == last ? site.pair : find_pair(site);
  }
  effort_region_id pair(const Path& to);

  /// A call was left when the slot's stamp was `stamp`.  Within a region of the host's it is remembered a tick early, so that the usual way in
  /// (Passage::enter) is not taken.
  void left_at(std::uint64_t stamp, std::uint32_t depth) { left = depth == 0 ? stamp : stamp - 1; }

  /// Around the computation between two calls, while that is of interest: its CPU time where one of the last ones after the same call was
  /// long; otherwise its elapsed time, because reading the CPU clock would cost more than it says.
  void start_computation(Site& site) {
    before_ = &site;
    cpu_left_ = not_read;
    if (__builtin_expect(site.reads > 0, 0)) read_cpu_clock(site);
  }
  void count_computation(std::uint64_t gap) {
    if (__builtin_expect(cpu_left_ == not_read && gap < much, 1))
      computed += static_cast<std::int64_t>(gap);
    else
      count_much(gap);
  }

  int nesting = 0;                     ///< wrappers that this thread is in
  bool polled_in_vain = false;         ///< it asked, and the answer was no
  bool begun = false;                  ///< what enter_carefully tells
  bool main = false;                   ///< it called MPI_Init
  bool driving = false;                ///< it ends a step in the name of the host
  const Path* last = nullptr;          ///< the last call that split
  std::uint64_t left = 0;              ///< the clock when it was left; as long as the slot's stamp is the same, nothing happened since
  std::uint64_t entered = 0;           ///< the clock when the call under way was entered; set on the careful way
  std::int64_t computed = 0;           ///< CPU time between calls so far, ticks, while that is of interest

 private:
  static constexpr std::size_t places = 1024;
  static std::size_t place(const void* address) {
    const auto a = reinterpret_cast<std::uintptr_t>(address);
    return (a ^ (a >> 10)) & (places - 1);
  }

  Site* add_site(Call call, const void* return_address, const std::byte* cfa) noexcept;
  void read_cpu_clock(Site& site);
  void count_much(std::uint64_t gap);
  effort_region_id find_pair(Site& site) noexcept;

  std::uint64_t session_ = 0;
  effort_region_id own_ = 0;           ///< takes the time in which call paths are made out
  std::int64_t cpu_left_ = not_read;   ///< CPU time when the last call that split was left
  static constexpr std::int64_t not_read = -1, too_many_reads = -2;
  std::uint64_t cpu_reads_ = 0, first_read_ = 0;
  Site* before_ = nullptr;             ///< the call that the computation at hand began after
  const std::byte* stack_end_ = nullptr;
  std::vector<std::unique_ptr<Site>> table_;
  std::unordered_map<std::uint64_t, effort_region_id> pairs_;  ///< by from << 32 | to
};

/// The calling thread's state; made by the first call.  Initial-exec: the library is linked or preloaded.
extern __attribute__((tls_model("initial-exec"), visibility("hidden"))) __thread Thread* this_thread;
Thread& make_thread();

/// On the way into a call and out of it, for every case.  Null: the call is not seen; otherwise Thread::begun and ::entered are set.
Site* enter_carefully(Thread& thread, Call call, const void* return_address, const std::byte* cfa);
/// @param begun  its region was begun on the usual way
void leave_carefully(Thread& thread, Site* site, bool begun, bool in_vain);

/// What has passed since the last call was left is nobody's computation.
void disown(Thread& thread, measure::ThreadSlot& slot);

/// Around one call.  Construct before it, call done() after it.
///
/// The usual case, a call met before that splits, outside all regions, with nothing but the clock to read, is one reading of it on the way in and
/// one on the way out: what has passed since the last call goes straight to the pair of both.  It may be interrupted by signal
/// handlers like any boundary (short_path.hpp): all is decided by the one instruction that moves the stamp.
/// @tparam usual  whether that case may be taken; not where the time inside is asked for afterwards
template <Call call, bool usual = true>
class Passage {
 public:
  Passage(const void* return_address, const void* cfa) : thread_(this_thread) {
    if (__builtin_expect(!thread_, 0)) thread_ = &make_thread();
    if (__builtin_expect(!armed, 0)) {
      ++thread_->nesting;
      return;
    }
    const auto* frame = static_cast<const std::byte*>(cfa);
    if constexpr (usual && can_split(info(call).role)) {
      // Read first, for the same reason as in advance_stamp: the site is looked up beside the way into the call.
      const std::uint64_t now = measure::tsc();
      std::atomic_signal_fence(std::memory_order_seq_cst);
      slot_ = measure::this_thread_slot();
      site_ = thread_->known_site(call, return_address, frame);
      usual_ = slot_ && site_ && enter(*thread_, *slot_, *site_, now);
    }
    if (__builtin_expect(!usual_, 0)) site_ = enter_carefully(*thread_, call, return_address, frame);
  }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

  /// The call has returned.  @param in_vain  a poll that found nothing
  void done(bool in_vain = false) {
    if (__builtin_expect(!usual_ || !leave(*thread_, *slot_, *site_, in_vain), 0)) leave_carefully(*thread_, site_, usual_, in_vain);
  }

  /// Whether the call is seen at all: not within another, and in a session.
  bool seen() const { return site_ != nullptr; }
  Thread& thread() const { return *thread_; }
  const Site& site() const { return *site_; }

 private:
  static constexpr bool polls = info(call).role == Role::poll;

  /// At the moment `now`.  False, with nothing changed, where this is not the usual case.  That the stamp is the one which the last call left says
  /// much: the session is the same, no region is open, and this is no call from within a call.
  static bool enter(Thread& thread, measure::ThreadSlot& slot, const Site& site, std::uint64_t now) {
    const std::uint64_t before = slot.stamp.load(std::memory_order_relaxed);
    const auto region = static_cast<std::uint32_t>(site.region);
    if (before != thread.left || site.from != thread.last || region - 1u >= slot.limit.load(std::memory_order_relaxed)) return false;
    measure::Cell* const cells = slot.cells.load(std::memory_order_relaxed);
    const bool sampled = measure::count_own(cells[region].begins);
    if (__builtin_expect(sampled || !measure::replace_own(slot.stamp, before, now), 0)) {
      measure::uncount_own(cells[region].begins);
      return false;
    }
    const std::uint64_t gap = now - before;
    auto to = static_cast<std::uint32_t>(site.pair);
    if (polls && thread.polled_in_vain && thread.last == site.path && gap < poll_gap) to = region;
    thread.nesting = 1;
    slot.stack[0] = measure::outside;
    slot.depth = 1;
    slot.current.store(region, std::memory_order_release);
    measure::add_own(cells[to].ticks, gap);
    if (__builtin_expect(steps_want_cpu_time, 0)) thread.count_computation(gap);
    return true;
  }

  static bool leave(Thread& thread, measure::ThreadSlot& slot, Site& site, bool in_vain) {
    const std::uint64_t now = measure::tsc();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const auto region = static_cast<std::uint32_t>(site.region);
    if (slot.current.load(std::memory_order_relaxed) != region) return false;
    const std::uint64_t before = slot.stamp.load(std::memory_order_relaxed);
    if (now < before || !measure::replace_own(slot.stamp, before, now)) return false;
    slot.current.store(measure::outside, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    slot.depth = 0;
    measure::add_own(slot.cells.load(std::memory_order_relaxed)[region].ticks, now - before);
    thread.last = site.path;
    if (polls) thread.polled_in_vain = in_vain;  // of no account where another call was the last
    thread.left = now;
    thread.nesting = 0;
    if (__builtin_expect(steps_want_cpu_time, 0)) thread.start_computation(site);
    return true;
  }

  Thread* thread_;
  measure::ThreadSlot* slot_ = nullptr;
  Site* site_ = nullptr;
  bool usual_ = false;
};

/// That the call which has just been left took, entered on the careful way.
inline double seconds_in_call(const Thread& thread) {
  const measure::ThreadSlot* slot = measure::this_thread_slot();
  return thread.begun && slot ? static_cast<double>(slot->stamp.load(std::memory_order_relaxed) - thread.entered) * seconds_per_tick : 0;
}

}  // namespace effort::pmpi
