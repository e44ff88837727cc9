// One passage of a host's thread through an MPI call: what the wrappers do around it.
#pragma once

#include "adapters/pmpi/call_path.hpp"
#include "adapters/pmpi/calls.hpp"
#include "runtime/measure/thread_slot.hpp"

#include "effort/effort_inline.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace effort::pmpi {

/// A call path as one thread has met it, with the ids of its regions in the session at hand.
struct Site {
  const void* return_address;
  const Path* path;
  Trail trail;
  effort_region_id region = 0;        ///< of the time inside
  bool splits = false;
  std::uint8_t reads = most_reads;    ///< so many more readings of the CPU clock after this call, unless one finds much computation
  static constexpr std::uint8_t most_reads = 64;
  std::uint32_t from = 0;             ///< the last `pair` was made with this path before it
  effort_region_id pair = 0;          ///< of the computation between the two
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

  /// Null where memory has run out.
  Site* site(Call call, const void* return_address, const std::byte* cfa) {
    for (Site* s = table_[place(return_address)].get(); s; s = s->next.get())
      if (s->return_address == return_address && s->path->call == call && holds(s->trail, cfa, stack_end_)) return s;
    return add_site(call, return_address, cfa);
  }

  /// The region of the computation between the last call that split and one from this site.
  effort_region_id pair(Site& site) {
    if (site.from == last->id && site.pair != 0) return site.pair;
    return find_pair(site);
  }
  effort_region_id pair(const Path& to);

  /// Around the computation between two calls, while that is of interest: its CPU time where one of the last ones after the same call was
  /// long; otherwise its elapsed time, because reading the CPU clock would cost more than it says.
  void start_computation(Site& site);
  void count_computation(std::uint64_t gap);

  int nesting = 0;                     ///< wrappers that this thread is in
  const Path* last = nullptr;          ///< the last call that split
  std::uint64_t left = 0;              ///< the clock when it was left
  std::int64_t computed = 0;           ///< CPU time between calls so far, ns, while that is of interest
  bool polled_in_vain = false;         ///< it asked, and the answer was no
  bool main = false;                   ///< it called MPI_Init
  bool driving = false;                ///< it ends a step in the name of the host

 private:
  static constexpr std::size_t places = 1024;
  static std::size_t place(const void* address) {
    const auto a = reinterpret_cast<std::uintptr_t>(address);
    return (a ^ (a >> 10)) & (places - 1);
  }

  Site* add_site(Call call, const void* return_address, const std::byte* cfa) noexcept;
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
extern __attribute__((tls_model("initial-exec"))) __thread Thread* this_thread;
Thread& make_thread();

/// A gap between two polls of the same place that is shorter is waiting, not computation.
extern std::uint64_t poll_gap;
/// A gap of an explicitly instrumented host that is shorter is kept for the next one.
extern std::uint64_t least_gap;
extern double seconds_per_tick;

/// While steps are looked for, computation is compared: in CPU time, which says as much on crowded cores.
extern bool steps_want_cpu_time;

/// Whether wrappers measure: from MPI_Init to MPI_Finalize, unless something is wrong.
extern bool armed;

/// Around one call.  Construct before it, call done() after it.
class Passage {
 public:
  Passage(Call call, const void* return_address, const void* cfa) {
    thread_ = this_thread;
    if (__builtin_expect(!thread_, 0)) thread_ = &make_thread();
    if (thread_->nesting++ > 0 || !armed) return;
    slot_ = measure::this_thread_slot();
    if (__builtin_expect(!thread_->ready(slot_), 0)) {
      slot_ = thread_->prepare() ? measure::this_thread_slot() : nullptr;
      if (!slot_) return;
    }
    enter(call, return_address, static_cast<const std::byte*>(cfa));
  }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

  /// The call has returned.  @param in_vain  a poll that found nothing
  void done(bool in_vain = false) {
    if (__builtin_expect(site_ != nullptr, 1)) leave(in_vain);
    --thread_->nesting;
  }

  /// Whether the call is seen at all: not within another, and in a session.
  bool seen() const { return site_ != nullptr; }
  Thread& thread() const { return *thread_; }
  /// That the call took; known where its time went to its own region.
  double seconds() const { return began_ ? static_cast<double>(slot_->stamp.load(std::memory_order_relaxed) - entered_) * seconds_per_tick : 0; }
  const Site& site() const { return *site_; }

 private:
  void enter(Call call, const void* return_address, const std::byte* cfa) {
    Site* const found = thread_->site(call, return_address, cfa);
    if (!found) return;
    Site& site = *found;
    const bool outermost = slot_->depth == 0;
    if (__builtin_expect(outermost || begins_inside(), 1)) began_ = effort_begin_inline(site.region) == EFFORT_OK;
    entered_ = slot_->stamp.load(std::memory_order_relaxed);
    if (site.splits) close_gap(site, outermost);
    site_ = &site;
  }

  void leave(bool in_vain) {
    if (began_) effort_end_inline(site_->region);
    if (!site_->splits) return;
    thread_->last = site_->path;
    thread_->polled_in_vain = in_vain;
    thread_->left = slot_->stamp.load(std::memory_order_relaxed);
    if (__builtin_expect(steps_want_cpu_time, 0)) thread_->start_computation(*site_);
  }

  /// Gives the computation since the last call to the pair of both.
  void close_gap(Site& site, bool outermost) {
    const std::uint64_t gap = slot_->stamp.load(std::memory_order_relaxed) - thread_->left;
    if (__builtin_expect(steps_want_cpu_time, 0)) thread_->count_computation(gap);
    if (!outermost && gap < least_gap) return;
    const bool waiting = thread_->polled_in_vain && thread_->last == site.path && gap < poll_gap;
    const effort_region_id to = waiting ? site.region : thread_->pair(site);
    if (__builtin_expect(slot_->n_counters > 0, 0))
      claim_counted(to);
    else
      measure::claim_outside_ticks(*slot_, static_cast<std::uint32_t>(to));
  }

  bool begins_inside() const;
  void claim_counted(effort_region_id region) const;

  Thread* thread_;
  measure::ThreadSlot* slot_ = nullptr;
  Site* site_ = nullptr;
  bool began_ = false;
  std::uint64_t entered_ = 0;
};

}  // namespace effort::pmpi
