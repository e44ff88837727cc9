#include "runtime/measure/slot_counters.hpp"

#include "runtime/measure/grow.hpp"
#include "runtime/measure/thread_slot.hpp"

#include <algorithm>

namespace effort::measure {
namespace {

void read_or_nothing(CounterReader* reader, int count, std::int64_t* values) noexcept {
  if (reader) return reader->read(values);
  for (int c = 0; c < count; ++c) values[c] = no_reading;
}

}  // namespace

void SlotCounters::start(const SlotPlan& plan) {
  const SourceSet* const sets[2] = {plan.boundary, plan.at_step};
  for (std::size_t i = 0; i < 2; ++i)
    if (sets[i] && sets[i]->count() > 0) readers_[i] = sets[i]->open(plan.whole);
  boundary_ = readers_[0].get();
  at_step_ = readers_[1].get();
  n_ = plan.boundary ? plan.boundary->count() : 0;
  n_step_ = plan.at_step ? plan.at_step->count() : 0;
  cpu_ = -1;
  for (int c = 0; c < n_; ++c)
    if (plan.boundary->counters()[static_cast<std::size_t>(c)].name == "cpu_time") cpu_ = c;
  step_values_ = 0;
  for (int c = 0; c < n_step_; ++c)
    if (plan.at_step->counters()[static_cast<std::size_t>(c)].value) step_values_ |= 1u << c;
  if (at_step_) at_step_->read(step_stamp_);
  if (boundary_) boundary_->read(stamp_);
  brief_by_ticks_ = plan.brief_by_ticks && boundary_ && tick_rate().use_tsc;
  cpu_ahead_ = 0;
  open_ = true;
}

std::size_t SlotCounters::totals_for(std::uint32_t room, const SlotPlan& plan) noexcept {
  return room * static_cast<std::size_t>(plan.boundary ? plan.boundary->count() : 0);
}

void SlotCounters::make_room(std::uint32_t room, const SlotPlan& plan) {
  const std::size_t needed = totals_for(room, plan);
  if (needed <= n_totals_) return;
  grow(totals_, arrays_, n_totals_, needed, copy_value<std::int64_t>);
  n_totals_ = needed;
}

void SlotCounters::close() {
  open_ = brief_by_ticks_ = false;
  boundary_ = at_step_ = nullptr;
  for (auto& reader : readers_) reader.reset();
}

void SlotCounters::abandon() noexcept {
  boundary_ = at_step_ = nullptr;
  for (auto& reader : readers_) (void)reader.release();
}

void SlotCounters::thread_ends() noexcept {
  for (auto& reader : readers_)
    if (reader) reader->thread_ends();
}

void SlotCounters::reset() {
  close();
  n_ = n_step_ = 0;
  for (std::size_t i = 0; i < n_totals_; ++i)
    totals_.load(std::memory_order_relaxed)[i].store(0, std::memory_order_relaxed);
  cpu_readings_.store(0, std::memory_order_relaxed);
  fallen_.store(0, std::memory_order_relaxed);
  for (auto& total : step_totals_) total.store(0, std::memory_order_relaxed);
  std::fill(std::begin(claimed_), std::end(claimed_), 0);
}

/// The growth from one reading to the next.  A counter's first reading counts from zero.
std::int64_t SlotCounters::counted_since(std::int64_t& last, std::int64_t now, int bit) noexcept {
  if (now == no_reading) return 0;
  bool fell = false;
  const std::int64_t delta = growth(last == no_reading ? 0 : last, now, fell);
  last = now;
  if (fell) fallen_.fetch_or(1u << bit, std::memory_order_relaxed);
  return delta;
}

/// Reads the CPU clock.  The cost of the reading is added to `own` unless the region waits: its wait would have ended
/// at the same moment without the reading.
std::int64_t SlotCounters::read_cpu_time(bool computes, std::uint64_t& at, std::uint64_t& own) noexcept {
  std::int64_t now[max_metrics];
  boundary_->read(now);
  std::int64_t spent = now[0] - stamp_[0] - cpu_ahead_;
  stamp_[0] = now[0];
  cpu_ahead_ = std::max<std::int64_t>(0, -spent);
  cpu_readings_.store(cpu_readings_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  spent -= ns_of(own);
  const std::uint64_t after = ticks();
  if (computes) {
    spent -= std::min(ns_of(after - at), brief_waiting_ns);  // the reading may be interrupted
    own += after - at;
  }
  at = after;
  return std::max<std::int64_t>(0, spent);
}

std::uint64_t SlotCounters::take(std::uint64_t stamp, bool computes, std::uint64_t& own, bool exactly,
                                 std::int64_t* counted) noexcept {
  if (brief_by_ticks_) {
    std::uint64_t at = ticks();
    counted[0] = cpu_time(at - stamp, computes, at, own, exactly);
    return at;
  }
  if (n_ > 0) {
    std::int64_t now[max_metrics];
    read_or_nothing(boundary_, n_, now);
    for (int c = 0; c < n_; ++c) counted[c] = counted_since(stamp_[c], now[c], c);
    if (cpu_ >= 0) counted[cpu_] -= ns_of(own);
  }
  return ticks();
}

void SlotCounters::add(std::uint32_t region, const std::int64_t* counted, std::int64_t times) noexcept {
  auto* const total = totals_of(region);
  for (int c = 0; c < n_; ++c)
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): [n_] are set
    add_wrapping(total[c],
                 static_cast<std::int64_t>(static_cast<std::uint64_t>(counted[c]) * static_cast<std::uint64_t>(times)));
}

void SlotCounters::add_cpu_ns(std::uint32_t region, std::int64_t ns) noexcept {
  if (cpu_ >= 0) add_wrapping(totals_of(region)[cpu_], ns);
}

void SlotCounters::disregard() noexcept {
  if (n_ > 0) read_or_nothing(boundary_, n_, stamp_);
  cpu_ahead_ = 0;
}

void SlotCounters::read_step() noexcept {
  if (n_step_ == 0) return;
  std::int64_t now[max_metrics];
  read_or_nothing(at_step_, n_step_, now);
  for (int c = 0; c < n_step_; ++c) {
    std::atomic<std::int64_t>& total = step_totals_[c];
    if (step_values_ & (1u << c)) {
      // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the reader fills it
      if (now[c] != no_reading) total.store(now[c], std::memory_order_release);
    } else {
      // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the reader fills it
      add_wrapping(total, counted_since(step_stamp_[c], now[c], n_ + c));
    }
  }
}

void SlotCounters::claim_outside(std::uint32_t region) noexcept {
  if (n_ == 0) return;
  auto* const out = totals_of(outside);
  for (int c = 0; c < n_; ++c) {
    const std::int64_t total = out[c].load(std::memory_order_relaxed);
    if (region != outside) add_wrapping(totals_of(region)[c], total - claimed_[c]);
    claimed_[c] = total;
  }
}

}  // namespace effort::measure
