// The recorder's side of the overhead guard: what measuring costs, and what the guard has decided.
#include "runtime/measure/boundary.hpp"
#include "runtime/measure/recorder.hpp"
#include "runtime/measure/slot_reader.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace effort::measure {
namespace {

// Often enough to react within a window, seldom enough that an interval means something.
constexpr double least_seconds_between_looks = 0.05;
constexpr int least_steps_between_looks = 4;
// Timed calls that a step keeps where an error is one of the load, because the region around is part of it and this one is not or the
// other way round: calls that scatter by as much as they last make 2 % of it.
constexpr std::int64_t least_apart = 2500;

constexpr int chunks = 10, rounds = 64;

/// Seconds per round of `body`, the least of several chunks: what interrupts is not the cost.
template <typename Body>
double seconds_per_round(const Body& body) {
  std::uint64_t least = ~std::uint64_t{0};
  for (int c = 0; c < chunks; ++c) {
    const std::uint64_t start = ticks();
    for (int i = 0; i < rounds; ++i) body();
    least = std::min(least, ticks() - start);
  }
  return static_cast<double>(least) * tick_rate().seconds_per_tick / rounds;
}

}  // namespace

/// On a slot of its own that nobody reads, with a thread's counters.
void Recorder::measure_cost(ThreadSlot& own) {
  const auto scratch = std::make_unique<ThreadSlot>();
  prepare_slot(*scratch, session_, 1, {own.brief_by_ticks ? &boundary_ : nullptr, nullptr, false, &registry_, own.brief_by_ticks});
  const auto pair = [&] {
    open_region(*scratch, 1);
    close_region(*scratch, 1);
  };
  // What is booked to empty regions and between them is what the library takes.
  const Cell* const cells = scratch->cells.load(std::memory_order_relaxed);
  const auto own_ticks = [&](std::uint32_t region) {
    const std::uint64_t before = cells[region].ticks.load(std::memory_order_relaxed);
    return [&, region, before](double least) {
      return std::min(least, static_cast<double>(cells[region].ticks.load(std::memory_order_relaxed) - before) / rounds);
    };
  };
  own_begin_ = own_end_ = std::numeric_limits<double>::infinity();
  for (int c = 0; c < chunks; ++c) {
    pair();
    const auto between = own_ticks(outside), inside = own_ticks(1);
    for (int i = 0; i < rounds; ++i) pair();
    own_begin_ = between(own_begin_);
    own_end_ = inside(own_end_);
  }
  cost_.timed = (own_begin_ + own_end_) * tick_rate().seconds_per_tick;
  SamplingPlan plan{2, std::make_unique<Sampling[]>(2), std::make_unique<Sampling[]>(2)};
  plan.calls[1] = plan.apart[1] = {Guard::longest_period, 1, 0};
  scratch->offered.store(&plan, std::memory_order_relaxed);
  ask(*scratch, resample);
  cost_.skipped = std::min(seconds_per_round(pair), cost_.timed);
  if (!own.boundary) return;
  std::int64_t values[max_metrics];
  const double reading = seconds_per_round([&] { own.boundary->read(values); });
  if (own.brief_by_ticks) {
    reading_ = reading;
    return;
  }
  cost_.timed += 2 * reading;
  own_begin_ += reading / tick_rate().seconds_per_tick;
  own_end_ += reading / tick_rate().seconds_per_tick;
}

/// Lets a slot leave out at its boundaries what the library takes there.
void Recorder::tell_own(SlotReader& reader) {
  reader.told = true;
  reader.slot->own.before_begin.store(static_cast<std::uint64_t>(own_begin_), std::memory_order_relaxed);
  reader.slot->own.before_end.store(static_cast<std::uint64_t>(own_end_), std::memory_order_relaxed);
}

/// Seconds that the busiest thread has computed since the guard looked last: the stepping thread's CPU time less its waiting, or another
/// thread's load.
double Recorder::computing(double wall) {
  const std::int64_t cpu = thread_cpu_ns();
  double seconds = wall;
  if (stepping_ == std::this_thread::get_id()) {
    seconds = static_cast<double>(cpu - looked_cpu_) * 1e-9;
    seconds = cpu_counter_ >= 0 ? seconds - waited_ : std::min(seconds, wall - waited_);
  }
  stepping_ = std::this_thread::get_id();
  looked_cpu_ = cpu;
  waited_ = 0;
  for (auto& reader : readers_) {
    if (!reader->own) seconds = std::max(seconds, reader->computed);
    reader->computed = 0;
  }
  return std::clamp(seconds, 1e-3 * wall, wall);
}

void Recorder::guard_step(std::uint64_t now) {
  for (auto& reader : readers_)
    if (reader->sampling_version != sampling_version_ && reader->slot->session.load(std::memory_order_acquire) == session_) offer_periods(*reader);
  const double wall = static_cast<double>(now - look_stamp_) * tick_rate().seconds_per_tick;
  if (cpu_counter_ < 0) waited_ += step_wait_;
  if (cost_.timed == 0 || ++looked_steps_ < least_steps_between_looks || wall < least_seconds_between_looks) return;
  std::vector<std::int64_t> begins(kinds_.size(), 0);
  double measured = 0;
  for (auto& reader : readers_) {
    if (reader->slot->session.load(std::memory_order_acquire) != session_) continue;
    measured = std::max(measured, reader->measured);
    reader->measured = 0;
    reader->looked.resize(reader->begins.size(), 0);
    for (std::size_t r = 1; r < std::min(begins.size(), reader->begins.size()); ++r) {
      // What is not computing is timed always: its calls take very different times, and what they are wrong by the load is wrong by.
      if (kinds_[r] == Kind::compute) begins[r] = std::max(begins[r], reader->begins[r] - reader->looked[r]);
      reader->looked[r] = reader->begins[r];
    }
  }
  per_step_.assign(begins.size(), 0);
  for (std::size_t r = 0; r < begins.size(); ++r) per_step_[r] = begins[r] / looked_steps_;
  // Beyond what sampling has a hand in.
  fixed_ += std::max(0.0, measured - guard_.seconds(begins, cost_));
  if (guard_.look(begins, fixed_, computing(wall), cost_)) {
    ++sampling_version_;
    note_sampling();
    for (auto& reader : readers_)
      if (reader->slot->session.load(std::memory_order_acquire) == session_) offer_periods(*reader);
  }
  // One look may have fallen on a moment in which the rank did not run.
  exhausted_looks_ = guard_.exhausted() ? exhausted_looks_ + 1 : 0;
  if (exhausted_looks_ >= 3)
    registry_.note("measuring costs more than MAX_OVERHEAD of the computing time, and what makes the load is not sampled more coarsely: make regions larger, or steps longer");
  look_stamp_ = now;
  looked_steps_ = 0;
  fixed_ = 0;
}

/// Gives a slot's thread the periods in force, which it takes over at its next boundary.
void Recorder::offer_periods(SlotReader& reader) {
  const auto periods = guard_.periods();
  auto plan = std::make_unique<SamplingPlan>();
  plan->size = static_cast<std::uint32_t>(periods.size());
  plan->calls = std::make_unique<Sampling[]>(periods.size());
  plan->apart = std::make_unique<Sampling[]>(periods.size());
  std::uint64_t state = 0x2545f4914f6cdd1du + reader.slot->number + sampling_version_ * 7919u;
  const auto drawn = [&](std::uint32_t period) -> Sampling {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return {period, 0, static_cast<std::uint32_t>((state >> 32) * period >> 32)};
  };
  for (std::size_t r = 0; r < periods.size(); ++r) {
    plan->calls[r] = drawn(periods[r]);
    const std::int64_t most = r < per_step_.size() ? per_step_[r] / least_apart : 1;
    plan->apart[r] = drawn(std::bit_floor(static_cast<std::uint32_t>(std::clamp<std::int64_t>(most, 1, periods[r]))));
  }
  reader.slot->offered.store(plan.get(), std::memory_order_release);
  reader.slot->plans.push_back(std::move(plan));
  reader.sampling_version = sampling_version_;
  ask(*reader.slot, resample);
}

/// Says which regions are timed by sampling.
void Recorder::note_sampling() {
  const auto periods = guard_.periods();
  noted_.resize(std::max(noted_.size(), periods.size()), false);
  for (std::uint32_t r = 1; r < periods.size(); ++r) {
    if (periods[r] <= 1 || noted_[r] || notes_left_ == 0) continue;
    noted_[r] = true;
    if (--notes_left_ == 0)
      registry_.note("the overhead guard (MAX_OVERHEAD) times further regions by sampling");
    else
      registry_.note(("the overhead guard (MAX_OVERHEAD) counts region '" + registry_.region_name(r) + "' and times it by sampling").substr(0, max_name).c_str());
  }
}

}  // namespace effort::measure
