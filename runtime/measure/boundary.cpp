#include "runtime/measure/boundary.hpp"

#include "runtime/measure/careful.hpp"

#include <algorithm>

namespace effort::measure {
namespace {

using recording::RecordKind;
using Turn = SlotSampling::Turn;

/// The region that is charged for a skipped word: its innermost enclosing region that is not skipped.
std::uint32_t region_around_skipped(const ThreadSlot& s) noexcept {
  std::uint32_t depth = s.depth;
  while (depth > 0) {
    const std::uint32_t word = s.stack[--depth];
    if ((word & skipped) == 0) return region_of(word);
  }
  return outside;
}

Turn turn_of(std::uint32_t word) noexcept {
  return word & skipped ? Turn::skipped : word & weighted ? Turn::weighted : Turn::timed;
}

bool computes(const ThreadSlot& s, std::uint32_t region) noexcept { return s.kind_of(region) == Kind::compute; }

/// Charges `times` the elapsed interval to `region`.
void add(ThreadSlot& s, std::uint32_t region, std::uint64_t passed, const std::int64_t* counted,
         std::int64_t times) noexcept {
  add_own(s.cells.load(std::memory_order_relaxed)[region].ticks, passed * static_cast<std::uint64_t>(times));
  s.counters.add(region, counted, times);
}

/// Adds the elapsed interval to the rebalance that is being priced.
void price(ThreadSlot& s, std::uint32_t word, std::uint64_t passed, const std::int64_t* counted) noexcept {
  Pricing& p = s.pricing;
  const auto add_to = [&](Pricing::Spent& spent) {
    spent.ticks += passed;
    if (s.counters.cpu() >= 0) spent.cpu_ns += counted[s.counters.cpu()];
  };
  add_to(p.whole);
  if (s.depth <= p.depth) return;
  if (!computes(s, region_of(word)))
    add_to(p.waited);
  else if (!p.overlong)
    add_to(p.computed);
}

/// Whether an interval of the rebalance is part of the price alone.  As part of the load, too, it would make the first
/// step of every new distribution look slow and unbalanced.
bool only_priced(const ThreadSlot& s, std::uint32_t region) noexcept {
  return !s.pricing.overlong && s.depth <= s.pricing.depth && computes(s, region);
}

/// Charges an interval of a weighted call once more for each call that it represents.  The time of these calls was
/// charged to the enclosing region: moves it.
void represent_others(ThreadSlot& s, std::uint32_t region, std::uint64_t passed, std::int64_t* counted) noexcept {
  const std::int64_t others = s.sampling.represented();
  const int load = s.sampling.load();
  const double share = s.sampling.spend(load < 0 ? static_cast<double>(passed) : static_cast<double>(counted[load]));
  if (others == 0) return;
  if (share < 1) {
    const auto part = [&](auto amount) { return static_cast<decltype(amount)>(share * static_cast<double>(amount)); };
    passed = part(passed);
    for (int c = 0; c < s.counters.count(); ++c) counted[c] = part(counted[c]);
  }
  add(s, region, passed, counted, others);
  add(s, region_around_skipped(s), passed, counted, -others);
}

/// Charges the interval since the last boundary, during which `word` was current.
void book(ThreadSlot& s, std::uint32_t word, std::uint64_t own = 0, bool exactly = true) noexcept {
  std::int64_t counted[max_metrics];
  const std::uint32_t region = region_of(word);
  const std::uint64_t at =
      s.counters.take(s.stamp.load(std::memory_order_relaxed), computes(s, region), own, exactly, counted);
  const std::uint64_t passed = advance_stamp(s.stamp, at) - own;
  if (s.pricing.open) {
    price(s, word, passed, counted);
    if (only_priced(s, region)) return;
  }
  if (word & skipped) return add(s, region_around_skipped(s), passed, counted, 1);
  if ((word & weighted) == 0) return add(s, region, passed, counted, 1);
  add(s, region, passed, counted, 1);
  represent_others(s, region, passed, counted);
}

/// Adopts the plan that the guard offers.  The sign of a region's count sends its begins to the careful path.
void resample_now(ThreadSlot& s) noexcept {
  s.sampling.take_over();
  Cell* const cells = s.cells.load(std::memory_order_relaxed);
  bool any = false;
  for (std::uint32_t r = 1; r <= s.known.load(std::memory_order_relaxed); ++r) {
    std::atomic<std::int64_t>& begins = cells[r].begins;
    const std::int64_t count = begins.load(std::memory_order_relaxed) & ~sampled_sign;
    const bool sampled = s.sampling.samples(r);
    begins.store(sampled ? count | sampled_sign : count, std::memory_order_relaxed);
    any = any || sampled;
  }
  s.layout.store(any || !tick_rate().use_tsc ? 0 : inline_layout, std::memory_order_relaxed);
}

void set_pricing(ThreadSlot& s, const Pricing& pricing) noexcept {
  if (pricing.open != s.pricing.open) s.sampling.time_all(pricing.open);
  s.pricing = pricing;
}

/// Serves the requests of other threads.
void answer_requests(ThreadSlot& s) noexcept {
  if (s.requests.load(std::memory_order_relaxed) == 0) return;
  const std::uint32_t wanted = s.requests.exchange(0, std::memory_order_acquire);
  if (wanted & stop_pricing) set_pricing(s, {});
  if (wanted & record_events) s.record_events();
  if (wanted & read_step_counters) s.counters.read_step();
  if ((wanted & resample) == 0) return;
  // An open word keeps the weight it had at its begin.
  if (!s.sampling.special())
    resample_now(s);
  else
    s.requests.fetch_or(resample, std::memory_order_relaxed);
}

/// Whether this is the usual case with counters at boundaries: no requests are pending and nothing open is sampled.  In
/// such a session the short path is closed and `current` is always careful, so a signal handler only needs to see that
/// the slot is busy.
bool only_counting(const ThreadSlot& s) noexcept {
  return s.counters.boundary() && !s.sampling.special() && s.requests.load(std::memory_order_relaxed) == 0;
}

/// book() for the usual case, up to the moment `at`.
[[gnu::always_inline]] inline void book_counters(ThreadSlot& s, std::uint32_t region, std::uint64_t at,
                                                 std::uint64_t own) noexcept {
  if (s.counters.brief_by_ticks())
    s.counters.book_cpu_time(region, s.stamp.load(std::memory_order_relaxed), computes(s, region), at, own);
  else
    s.counters.book_all(region, own);
  add_own(s.cells.load(std::memory_order_relaxed)[region].ticks, advance_stamp(s.stamp, at) - own);
}

/// book() while only recording, up to the moment `at`.
[[gnu::always_inline]] inline void book_ticks(ThreadSlot& s, std::uint32_t region, std::uint64_t at,
                                              std::uint64_t own) noexcept {
  add_own(s.cells.load(std::memory_order_relaxed)[region].ticks, advance_stamp(s.stamp, at) - own);
}

[[gnu::noinline]] void record(ThreadSlot& s, RecordKind what, std::uint32_t region, std::uint64_t at) noexcept {
  s.events.boundary(what, region, at);
}

/// Begins a region if nothing has to be done but to charge the time, by `book`, and to record the event.
template <auto book>
[[gnu::always_inline]] inline void open_simply(ThreadSlot& s, std::uint32_t region) noexcept {
  const std::uint64_t now = ticks();
  const Busy way(s);
  count_own(s.cells.load(std::memory_order_relaxed)[region].begins);
  const std::uint32_t word = s.current.load(std::memory_order_relaxed);
  book(s, region_of(word), now, s.own.before_begin.load(std::memory_order_relaxed));
  s.stack[s.depth++] = word & ~careful;
  s.current.store(region | careful, std::memory_order_release);
  if (s.events.on()) record(s, RecordKind::enter, region, now);
}

/// Ends the innermost region likewise.
template <auto book>
[[gnu::always_inline]] inline void close_simply(ThreadSlot& s, std::uint32_t region) noexcept {
  const std::uint64_t now = ticks();
  const Busy way(s);
  book(s, region, now, s.own.before_end.load(std::memory_order_relaxed));
  s.current.store(s.stack[--s.depth] | careful, std::memory_order_release);
  if (s.events.on()) record(s, RecordKind::leave, region, now);
}

/// The word for a region that is begun while `around` is current.
std::uint32_t word_for(ThreadSlot& s, std::uint32_t around, std::uint32_t region, bool sampled) noexcept {
  if (!sampled || !s.sampling.covers(region)) return region;
  const auto makes_load = [&](std::uint32_t r) { return r != outside && computes(s, r); };
  const bool alike = makes_load(region) == makes_load(around & skipped ? region_around_skipped(s) : region_of(around));
  switch (s.sampling.turn_of(region, alike)) {
    case Turn::skipped: return region | skipped;
    case Turn::weighted: return region | weighted;
    case Turn::timed: break;
  }
  return region;
}

[[gnu::noinline]] void open_fully(ThreadSlot& s, std::uint32_t region) noexcept {
  Careful way(s);
  answer_requests(s);
  const bool sampled = count_own(s.cells.load(std::memory_order_relaxed)[region].begins);
  const std::uint32_t word = word_for(s, way.word(), region, sampled);
  if ((word & skipped) == 0) {
    book(s, way.word(), s.own.before_begin.load(std::memory_order_relaxed), false);
    if (s.events.on()) record(s, RecordKind::enter, region, s.stamp.load(std::memory_order_relaxed));
  }
  s.stack[s.depth++] = way.word();
  s.sampling.begun(turn_of(word));
  if (s.pricing.open && !computes(s, region)) s.pricing.marked = true;
  way.enter(word);
}

[[gnu::noinline]] void close_fully(ThreadSlot& s, std::uint32_t region) noexcept {
  Careful way(s);
  const std::uint32_t word = way.word();
  if ((word & skipped) == 0) {
    book(s, word, s.own.before_end.load(std::memory_order_relaxed), false);
    if (s.events.on()) record(s, RecordKind::leave, region, s.stamp.load(std::memory_order_relaxed));
  }
  if (s.requests.load(std::memory_order_relaxed) & read_step_counters) answer_requests(s);
  s.sampling.ended(turn_of(word));
  way.enter(s.stack[--s.depth]);
  if (s.pricing.open) s.pricing.depth = std::min(s.pricing.depth, s.depth);  // an enclosing region may end in it
}

}  // namespace

void open_carefully(ThreadSlot& s, std::uint32_t region) noexcept {
  if (s.gate.closed()) return s.gate.begin_unseen();
  const bool sampled = s.cells.load(std::memory_order_relaxed)[region].begins.load(std::memory_order_relaxed) < 0;
  if (sampled) return open_fully(s, region);
  if (only_counting(s)) return open_simply<book_counters>(s, region);
  if (s.only_recording.load(std::memory_order_relaxed)) return open_simply<book_ticks>(s, region);
  open_fully(s, region);
}

bool close_carefully(ThreadSlot& s, std::uint32_t region) noexcept {
  if (s.gate.closed()) {
    s.gate.end_unseen();
    return true;
  }
  if (innermost(s) != region || s.depth == 0) return false;
  if (only_counting(s))
    close_simply<book_counters>(s, region);
  else if (s.only_recording.load(std::memory_order_relaxed))
    close_simply<book_ticks>(s, region);
  else
    close_fully(s, region);
  return true;
}

Pricing open_price(ThreadSlot& s) noexcept {
  const Careful way(s);
  book(s, way.word());
  const Pricing around = s.pricing;
  set_pricing(s, {true, false, false, s.depth, {}, {}, {}});
  return around;
}

Pricing close_price(ThreadSlot& s, const Pricing& around) noexcept {
  const Careful way(s);
  book(s, way.word());
  const Pricing priced = s.pricing;
  if (priced.open) set_pricing(s, around);
  return priced;
}

void claim(ThreadSlot& s, std::uint32_t region) noexcept {
  settle(s);
  const bool waited = !computes(s, region);
  claim_ticks(s, region, waited);
  s.counters.claim_outside(region);
  if (waited) s.counters.add_cpu_ns(region, ns_of(s.own.before_begin.load(std::memory_order_relaxed)));
}

void disregard(ThreadSlot& s) noexcept {
  if (s.gate.closed()) return;
  const Careful way(s);
  s.counters.disregard();
  s.stamp.store(ticks(), std::memory_order_release);
}

void settle(ThreadSlot& s) noexcept {
  if (s.gate.closed()) return;
  const Careful way(s);
  book(s, way.word(), 0, false);
}

void settle_step(ThreadSlot& s) noexcept {
  // A handler that left by longjmp in the middle of a boundary must not silence the thread permanently.  The thread
  // that ends steps is not at a boundary now.
  s.gate.reset();
  const Careful way(s);
  book(s, way.word());
  s.pricing.overlong = s.pricing.open;
  s.pricing.computed = {};
  if (s.requests.load(std::memory_order_relaxed) & read_step_counters)
    s.requests.fetch_and(~static_cast<std::uint32_t>(read_step_counters), std::memory_order_relaxed);
  s.counters.read_step();
  answer_requests(s);
}

void leave_all(ThreadSlot& s) noexcept {
  s.pricing = {};
  s.leave_session();
  Careful way(s);
  book(s, way.word());
  s.counters.read_step();
  s.depth = 0;
  s.sampling.forget_open();
  way.enter(outside);
}

}  // namespace effort::measure
