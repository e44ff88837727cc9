#include "runtime/measure/boundary.hpp"

#include <algorithm>

namespace effort::measure {
namespace {

void fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// While it lives, begins and ends of signal handlers in this thread are counted out, not carried out.  The order of
/// stores in both directions: at every moment a handler finds either the short path open for begin and end, or the
/// careful one, or `busy`, never a mixture.
class Careful {
 public:
  explicit Careful(ThreadSlot& s) noexcept : s_(s) {
    s.limit.store(0, std::memory_order_relaxed);
    fence();
    word_ = s.current.load(std::memory_order_relaxed) & ~careful;
    s.current.store(word_ | careful, std::memory_order_release);
    fence();
    s.busy.store(true, std::memory_order_relaxed);
    fence();
  }
  ~Careful() {
    fence();
    s_.busy.store(false, std::memory_order_relaxed);
    fence();
    if (!s_.short_path || s_.special > 0 || s_.known.load(std::memory_order_relaxed) == 0) return;
    s_.current.store(word_, std::memory_order_release);
    fence();
    // A request that comes in between waits for the next step at most, which repeats it.
    if (s_.requests.load(std::memory_order_relaxed) == 0) s_.limit.store(s_.known.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  Careful(const Careful&) = delete;
  Careful& operator=(const Careful&) = delete;

  /// The current word without `careful`.
  std::uint32_t word() const noexcept { return word_; }
  void enter(std::uint32_t word) noexcept {
    word_ = word;
    s_.current.store(word | careful, std::memory_order_release);
  }

 private:
  ThreadSlot& s_;
  std::uint32_t word_;
};

bool interrupted(const ThreadSlot& s) noexcept { return s.busy.load(std::memory_order_relaxed); }

/// The region that time of a skipped word goes to: the innermost one around it that is not skipped.
std::uint32_t paying(const ThreadSlot& s) noexcept {
  std::uint32_t depth = s.depth;
  while (depth > 0) {
    const std::uint32_t word = s.stack[--depth];
    if ((word & skipped) == 0) return region_of(word);
  }
  return outside;
}

/// Counters of 64 bits may wrap; so do their sums, and the differences that readers take of those are right.
void add_wrapping(std::atomic<std::int64_t>& cell, std::int64_t delta) noexcept {
  const auto sum = static_cast<std::uint64_t>(cell.load(std::memory_order_relaxed)) + static_cast<std::uint64_t>(delta);
  cell.store(static_cast<std::int64_t>(sum), std::memory_order_release);
}

/// What has passed goes to `region` `times` over.
void add(ThreadSlot& s, std::uint32_t region, std::uint64_t passed, const std::int64_t* counted, std::int64_t times) noexcept {
  add_own(s.cells.load(std::memory_order_relaxed)[region].ticks, passed * static_cast<std::uint64_t>(times));
  auto* cell = s.counters.load(std::memory_order_relaxed) + static_cast<std::size_t>(region) * static_cast<std::size_t>(s.n_counters);
  for (int c = 0; c < s.n_counters; ++c)
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): [s.n_counters] are set
    add_wrapping(cell[c], static_cast<std::int64_t>(static_cast<std::uint64_t>(counted[c]) * static_cast<std::uint64_t>(times)));
}

/// From one reading to the next; a counter that begins to give readings has counted from zero.
std::int64_t counted_since(std::int64_t& last, std::int64_t now, ThreadSlot& s, int bit) noexcept {
  if (now == no_reading) return 0;
  bool fell = false;
  const std::int64_t delta = growth(last == no_reading ? 0 : last, now, fell);
  last = now;
  if (fell) s.fallen.fetch_or(1u << bit, std::memory_order_relaxed);
  return delta;
}

void read_or_nothing(CounterReader* reader, int count, std::int64_t* values) noexcept {
  if (reader) return reader->read(values);
  for (int c = 0; c < count; ++c) values[c] = no_reading;
}

Kind kind_of(const ThreadSlot& s, std::uint32_t region) noexcept { return s.registry ? s.registry->region_kind(region) : Kind::compute; }

/// Adds what has passed to the rebalance that is being priced.
void price(ThreadSlot& s, std::uint32_t word, std::uint64_t passed, const std::int64_t* counted) noexcept {
  Pricing& p = s.pricing;
  const auto add_to = [&](Pricing::Spent& spent) {
    spent.ticks += passed;
    if (s.cpu_counter >= 0) spent.cpu_ns += counted[s.cpu_counter];
  };
  add_to(p.whole);
  if (s.depth > p.depth && kind_of(s, region_of(word)) != Kind::compute) add_to(p.waited);
}

// A stretch that is no longer than this has not been interrupted, and took as much CPU time as it lasted.  Ranks that wait may give up
// their core for a moment; those that compute lose it for longer.
constexpr double brief_computing = 5e-6, brief_waiting = 1.5e-6;

/// Ticks, which may be a negative number modulo 2^64.
std::int64_t ns_of(std::uint64_t passed) noexcept {
  return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(passed)) * tick_rate().seconds_per_tick * 1e9);
}

/// CPU time of what has passed up to `at`, `own` of it the library's, in nanoseconds.  Its clock costs ten times what everything else at
/// a boundary does: it is read where more than a moment has passed, or `exactly`, and then `at` moves behind the reading.  What brief
/// stretches were given too much or too little since the last reading, a long one makes up for.  The reading is added to what is the
/// library's own, unless the region waits: it would have waited as long without.
std::int64_t cpu_passed(ThreadSlot& s, std::uint32_t region, std::uint64_t& at, std::uint64_t& own, bool exactly) noexcept {
  const std::uint64_t passed = at - s.stamp.load(std::memory_order_relaxed);
  const bool computes = kind_of(s, region) == Kind::compute;
  if (!exactly && static_cast<double>(passed) * tick_rate().seconds_per_tick < (computes ? brief_computing : brief_waiting)) {
    s.cpu_ahead += ns_of(passed);
    return ns_of(passed - own);
  }
  std::int64_t now[max_metrics];
  s.boundary->read(now);
  std::int64_t spent = now[0] - s.counter_stamp[0] - s.cpu_ahead;
  s.counter_stamp[0] = now[0];
  s.cpu_ahead = std::max<std::int64_t>(0, -spent);
  s.cpu_readings.store(s.cpu_readings.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  spent -= ns_of(own);
  const std::uint64_t after = ticks();
  if (computes) {
    spent -= std::min(ns_of(after - at), static_cast<std::int64_t>(brief_waiting * 1e9));  // it may have been interrupted
    own += after - at;
  }
  at = after;
  return std::max<std::int64_t>(0, spent);
}

/// Books what has passed since the last boundary, while `word` was current.
void book(ThreadSlot& s, std::uint32_t word, std::uint64_t own = 0, bool exactly = true) noexcept {
  std::int64_t counted[max_metrics];
  std::uint64_t at = 0;
  if (s.brief_by_ticks) {
    at = ticks();
    counted[0] = cpu_passed(s, region_of(word), at, own, exactly);
  } else if (s.n_counters > 0) {
    std::int64_t now[max_metrics];
    read_or_nothing(s.boundary, s.n_counters, now);
    for (int c = 0; c < s.n_counters; ++c) counted[c] = counted_since(s.counter_stamp[c], now[c], s, c);
    if (s.cpu_counter >= 0) counted[s.cpu_counter] -= ns_of(own);
  }
  const std::uint64_t passed = advance_stamp(s.stamp, at > 0 ? at : ticks()) - own;
  if (s.pricing.open) price(s, word, passed, counted);
  if (word & skipped) return add(s, paying(s), passed, counted, 1);
  if ((word & weighted) == 0) return add(s, region_of(word), passed, counted, 1);
  // One call stands for `weight`: the other calls' time went to the region around, from where it is taken back.
  const std::int64_t weight = s.weight;
  add(s, region_of(word), passed, counted, weight);
  add(s, paying(s), passed, counted, 1 - weight);
}

void read_step(ThreadSlot& s) noexcept {
  if (s.n_step_counters == 0) return;
  std::int64_t now[max_metrics];
  read_or_nothing(s.at_step, s.n_step_counters, now);
  for (int c = 0; c < s.n_step_counters; ++c) {
    std::atomic<std::int64_t>& total = s.step_totals[c];
    if (s.step_values & (1u << c)) {
      // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the reader fills it
      if (now[c] != no_reading) total.store(now[c], std::memory_order_release);
    } else {
      // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the reader fills it
      const std::int64_t delta = counted_since(s.step_stamp[c], now[c], s, s.n_counters + c);
      add_wrapping(total, delta);
    }
  }
}

/// Takes over what the guard offers; the sign of a region's count sends its begins to the careful path.
void resample_now(ThreadSlot& s) noexcept {
  SamplingPlan* const plan = s.offered.load(std::memory_order_acquire);
  s.sampling = plan;
  Cell* const cells = s.cells.load(std::memory_order_relaxed);
  bool any = false;
  for (std::uint32_t r = 1; r <= s.known.load(std::memory_order_relaxed); ++r) {
    std::atomic<std::int64_t>& begins = cells[r].begins;
    const std::int64_t count = begins.load(std::memory_order_relaxed) & ~sampled_sign;
    const bool sampled = plan && r < plan->size && plan->calls[r].period > 1;
    begins.store(sampled ? count | sampled_sign : count, std::memory_order_relaxed);
    any = any || sampled;
  }
  s.layout.store(any || !tick_rate().use_tsc ? 0 : inline_layout, std::memory_order_relaxed);
}

void set_pricing(ThreadSlot& s, const Pricing& pricing) noexcept {
  const int more = int{pricing.open} - int{s.pricing.open};
  s.special += static_cast<std::uint32_t>(more);
  s.all_timed += static_cast<std::uint32_t>(more);
  s.pricing = pricing;
}

void serve(ThreadSlot& s) noexcept {
  if (s.requests.load(std::memory_order_relaxed) == 0) return;
  const std::uint32_t wanted = s.requests.exchange(0, std::memory_order_acquire);
  if (wanted & stop_pricing) set_pricing(s, {});
  if (wanted & read_step_counters) read_step(s);
  if ((wanted & resample) == 0) return;
  // An open word's weight is that of its begin.
  if (s.special == 0)
    resample_now(s);
  else
    s.requests.fetch_or(resample, std::memory_order_relaxed);
}

/// The usual case with counters at boundaries: nothing is asked for and nothing open is sampled.  The short path is closed
/// in such a session, and `current` always careful: to be busy is all that a signal handler has to see.
bool only_counting(const ThreadSlot& s) noexcept {
  return s.boundary && s.special == 0 && s.requests.load(std::memory_order_relaxed) == 0;
}

/// Marks the slot as busy while it lives.
class Counting {
 public:
  explicit Counting(ThreadSlot& s) noexcept : s_(s) {
    s.busy.store(true, std::memory_order_relaxed);
    fence();
  }
  ~Counting() {
    fence();
    s_.busy.store(false, std::memory_order_relaxed);
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

 private:
  ThreadSlot& s_;
};

/// book() for that case, up to the moment `at`.
void book_counters(ThreadSlot& s, std::uint32_t region, std::uint64_t at, std::uint64_t own) noexcept {
  auto* cell = s.counters.load(std::memory_order_relaxed) + static_cast<std::size_t>(region) * static_cast<std::size_t>(s.n_counters);
  Cell& time = s.cells.load(std::memory_order_relaxed)[region];
  if (s.brief_by_ticks) {
    add_wrapping(*cell, cpu_passed(s, region, at, own, false));
    return add_own(time.ticks, advance_stamp(s.stamp, at) - own);
  }
  std::int64_t now[max_metrics];
  s.boundary->read(now);
  for (int c = 0; c < s.n_counters; ++c) {
    std::int64_t& last = s.counter_stamp[c];
    auto delta = static_cast<std::int64_t>(static_cast<std::uint64_t>(now[c]) - static_cast<std::uint64_t>(last));
    if (__builtin_expect(last == no_reading || now[c] < last, 0))
      delta = counted_since(last, now[c], s, c);
    else
      last = now[c];
    add_wrapping(cell[c], c == s.cpu_counter ? delta - ns_of(own) : delta);
  }
  add_own(time.ticks, advance_stamp(s.stamp, at) - own);
}

std::uint32_t draw(std::uint64_t& state, std::uint32_t below) noexcept {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<std::uint32_t>((state >> 32) * below >> 32);
}

/// Whether this call of a sampled region is timed: one of each block of `period`, wherever the draw says.
bool its_turn(ThreadSlot& s, Sampling& calls) noexcept {
  const bool turn = calls.position == calls.pick;
  if (++calls.position >= calls.period) {
    calls.position = 0;
    calls.pick = draw(s.random, calls.period);
  }
  return turn;
}

bool makes_load(const ThreadSlot& s, std::uint32_t region) noexcept { return region != outside && kind_of(s, region) == Kind::compute; }

/// The word of a region that is begun while `around` is current.
std::uint32_t word_for(ThreadSlot& s, std::uint32_t around, std::uint32_t region, bool sampled) noexcept {
  if (!sampled || s.all_timed > 0 || !s.sampling || region >= s.sampling->size) return region;
  const bool alike = makes_load(s, region) == makes_load(s, around & skipped ? paying(s) : region_of(around));
  Sampling& calls = (alike ? s.sampling->calls : s.sampling->apart)[region];
  if (!its_turn(s, calls)) return region | skipped;
  if (calls.period <= 1) return region;
  s.weight = calls.period;
  s.skips.store(s.skips.load(std::memory_order_relaxed) + calls.period - 1, std::memory_order_relaxed);  // of its block
  return region | weighted;
}

}  // namespace

void open_carefully(ThreadSlot& s, std::uint32_t region) noexcept {
  if (interrupted(s)) {
    ++s.unseen;
    return;
  }
  std::atomic<std::int64_t>& begins = s.cells.load(std::memory_order_relaxed)[region].begins;
  if (only_counting(s) && begins.load(std::memory_order_relaxed) >= 0) {
    const std::uint64_t now = ticks();
    const Counting way(s);
    count_own(begins);
    const std::uint32_t word = s.current.load(std::memory_order_relaxed);
    book_counters(s, region_of(word), now, s.own.before_begin.load(std::memory_order_relaxed));
    s.stack[s.depth++] = word & ~careful;
    s.current.store(region | careful, std::memory_order_release);
    return;
  }
  Careful way(s);
  serve(s);
  const std::uint32_t word = word_for(s, way.word(), region, count_own(begins));
  if ((word & skipped) == 0) book(s, way.word(), s.own.before_begin.load(std::memory_order_relaxed), false);
  s.stack[s.depth++] = way.word();
  if (word & (skipped | weighted)) ++s.special;
  if (word & weighted) ++s.all_timed;
  if (s.pricing.open && kind_of(s, region) != Kind::compute) s.pricing.marked = true;
  way.enter(word);
}

bool close_carefully(ThreadSlot& s, std::uint32_t region) noexcept {
  if (interrupted(s)) {
    if (s.unseen > 0) --s.unseen;
    return true;
  }
  if (innermost(s) != region || s.depth == 0) return false;
  if (only_counting(s)) {
    const std::uint64_t now = ticks();
    const Counting way(s);
    book_counters(s, region, now, s.own.before_end.load(std::memory_order_relaxed));
    s.current.store(s.stack[--s.depth] | careful, std::memory_order_release);
    return true;
  }
  Careful way(s);
  const std::uint32_t word = way.word();
  if ((word & skipped) == 0) book(s, word, s.own.before_end.load(std::memory_order_relaxed), false);
  if (s.requests.load(std::memory_order_relaxed) & read_step_counters) serve(s);
  if (word & (skipped | weighted)) --s.special;
  if (word & weighted) --s.all_timed;
  way.enter(s.stack[--s.depth]);
  if (s.pricing.open) s.pricing.depth = std::min(s.pricing.depth, s.depth);  // a region around may end in it
  return true;
}

Pricing open_price(ThreadSlot& s) noexcept {
  const Careful way(s);
  book(s, way.word());
  const Pricing around = s.pricing;
  set_pricing(s, {true, false, s.depth, {}, {}});
  return around;
}

Pricing close_price(ThreadSlot& s, const Pricing& around) noexcept {
  const Careful way(s);
  book(s, way.word());
  const Pricing priced = s.pricing;
  if (priced.open) set_pricing(s, around);
  return priced;
}

void keep_own(ThreadSlot& s, std::uint32_t region) noexcept {
  if (kind_of(s, region) == Kind::compute) return;
  const std::uint64_t own = s.own.before_begin.load(std::memory_order_relaxed);
  add_own(s.cells.load(std::memory_order_relaxed)[region].ticks, own);
  if (s.cpu_counter < 0) return;
  const std::size_t place = region * static_cast<std::size_t>(s.n_counters) + static_cast<std::size_t>(s.cpu_counter);
  add_wrapping(s.counters.load(std::memory_order_relaxed)[place], ns_of(own));
}

void disregard(ThreadSlot& s) noexcept {
  if (interrupted(s)) return;
  const Careful way(s);
  if (s.n_counters > 0) read_or_nothing(s.boundary, s.n_counters, s.counter_stamp);
  s.cpu_ahead = 0;
  s.stamp.store(ticks(), std::memory_order_release);
}

void settle(ThreadSlot& s) noexcept {
  if (interrupted(s)) return;
  const Careful way(s);
  book(s, way.word(), 0, false);
}

void settle_step(ThreadSlot& s) noexcept {
  // A handler that left by longjmp in the middle of a boundary must not silence the thread for good; whoever ends steps
  // is at no boundary.
  s.busy.store(false, std::memory_order_relaxed);
  s.unseen = 0;
  const Careful way(s);
  book(s, way.word());
  s.requests.fetch_and(~static_cast<std::uint32_t>(read_step_counters), std::memory_order_relaxed);
  read_step(s);
  serve(s);
}

void leave_all(ThreadSlot& s) noexcept {
  s.pricing = {};
  s.registry = nullptr;  // the session may be over, and it with it
  Careful way(s);
  book(s, way.word());
  read_step(s);
  s.depth = 0;
  s.special = s.all_timed = 0;
  way.enter(outside);
}

}  // namespace effort::measure
