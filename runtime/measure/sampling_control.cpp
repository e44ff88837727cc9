#include "runtime/measure/sampling_control.hpp"

#include <algorithm>
#include <bit>

namespace effort::measure {
namespace {

// Frequent enough to react within a window, and rare enough for an interval to be representative.
constexpr double least_seconds_between_looks = 0.05;
constexpr int least_steps_between_looks = 4;
// Timed calls per step that a region keeps if its sampling error affects the load, because either the region or its
// parent, but not both, is part of the load.  With a standard deviation equal to the mean, the error is 2 %.
constexpr std::int64_t least_apart = 2500;
// A single look may coincide with a moment in which the rank did not run.
constexpr int exhausted_looks_before_note = 3;

}  // namespace

void SamplingControl::step(std::span<SlotReader* const> readers, const StepFrame& frame, const MeasuringCost& cost,
                           bool cpu_time_is_read, std::uint64_t now, Registry& registry) {
  if (limit_ <= 0) return;
  for (SlotReader* reader : readers)
    if (reader->plan_version != version_) offer_periods(*reader);
  waited_ += cpu_time_is_read ? frame.cpu_wait : frame.wait;
  const double wall = static_cast<double>(now - look_stamp_) * tick_rate().seconds_per_tick;
  if (!cost.known() || ++looked_steps_ < least_steps_between_looks || wall < least_seconds_between_looks) return;
  look(readers, frame, cost, cpu_time_is_read, wall, registry);
  look_stamp_ = now;
  looked_steps_ = 0;
  fixed_ = 0;
}

void SamplingControl::look(std::span<SlotReader* const> readers, const StepFrame& frame, const MeasuringCost& cost,
                           bool cpu_time_is_read, double wall, Registry& registry) {
  std::vector<std::int64_t> begins(frame.n_regions(), 0);
  double measured = 0;
  for (SlotReader* reader : readers) {
    measured = std::max(measured, reader->measured());
    reader->raise_to_calls(frame, begins);
  }
  per_step_.assign(begins.size(), 0);
  for (std::size_t r = 0; r < begins.size(); ++r) per_step_[r] = begins[r] / looked_steps_;
  // Cost that sampling cannot reduce.
  fixed_ += std::max(0.0, measured - guard_.seconds(begins, cost.pair));
  const double seconds = computing(readers, cpu_time_is_read, wall);
  for (SlotReader* reader : readers) reader->looked();
  const bool changed = guard_.look(begins, fixed_, seconds, cost.pair);
  if (changed) note_sampling(registry);
  // More or fewer calls a step change what is affordable, even if the guard's periods stay.
  if (limit_apart() || changed) {
    ++version_;
    for (SlotReader* reader : readers) offer_periods(*reader);
  }
  exhausted_looks_ = guard_.exhausted() ? exhausted_looks_ + 1 : 0;
  if (exhausted_looks_ >= exhausted_looks_before_note)
    registry.note(
        "measuring costs more than MAX_OVERHEAD of the computing time, and regions that affect the load are not "
        "sampled more coarsely: make regions larger, or steps longer");
}

/// Seconds that the busiest thread has computed since the last look: the stepping thread's CPU time minus its waiting,
/// or another thread's load if that is larger.
double SamplingControl::computing(std::span<SlotReader* const> readers, bool cpu_time_is_read, double wall) {
  const std::int64_t cpu = thread_cpu_ns();
  double seconds = wall;
  if (stepping_ == std::this_thread::get_id()) {
    seconds = static_cast<double>(cpu - looked_cpu_) * 1e-9;
    seconds = cpu_time_is_read ? seconds - waited_ : std::min(seconds, wall - waited_);
  }
  stepping_ = std::this_thread::get_id();
  looked_cpu_ = cpu;
  waited_ = 0;
  for (const SlotReader* reader : readers)
    if (!reader->stepping()) seconds = std::max(seconds, reader->computed());
  return std::clamp(seconds, 1e-3 * wall, wall);
}

/// Limits the periods of regions whose sampling error affects the load.  Returns whether a limit has changed.
bool SamplingControl::limit_apart() {
  const auto periods = guard_.periods();
  std::vector<std::uint32_t> apart(periods.size(), 1);
  for (std::size_t r = 0; r < std::min(apart.size(), per_step_.size()); ++r)
    apart[r] =
        std::bit_floor(static_cast<std::uint32_t>(std::clamp<std::int64_t>(per_step_[r] / least_apart, 1, periods[r])));
  apart_.resize(apart.size(), 1);
  apart_.swap(apart);
  return apart_ != apart;
}

/// Offers the current periods to a slot's thread, which adopts them at its next region boundary.
void SamplingControl::offer_periods(SlotReader& reader) {
  const auto periods = guard_.periods();
  auto plan = std::make_unique<SamplingPlan>(static_cast<std::uint32_t>(periods.size()));
  std::uint64_t state = 0x2545f4914f6cdd1du + reader.slot().number() + version_ * 7919u;
  const auto drawn = [&](std::uint32_t period) -> Sampling {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return {period, 0, static_cast<std::uint32_t>((state >> 32) * period >> 32)};
  };
  for (std::size_t r = 0; r < periods.size(); ++r) {
    plan->calls[r] = drawn(periods[r]);
    plan->apart[r] = drawn(r < apart_.size() ? apart_[r] : 1);
  }
  reader.slot().sampling.offer(std::move(plan));
  reader.slot().ask(resample);
  reader.plan_version = version_;
}

/// Adds notes on the regions that are timed by sampling.
void SamplingControl::note_sampling(Registry& registry) {
  const auto periods = guard_.periods();
  noted_.resize(std::max(noted_.size(), periods.size()), false);
  for (std::uint32_t r = 1; r < periods.size(); ++r) {
    if (periods[r] <= 1 || noted_[r] || notes_left_ == 0) continue;
    noted_[r] = true;
    std::string text =
        "the overhead guard (MAX_OVERHEAD) counts region '" + registry.region_name(r) + "' and times it by sampling";
    if (--notes_left_ == 0) text = "the overhead guard (MAX_OVERHEAD) times further regions by sampling";
    registry.note(text.substr(0, max_name).c_str());
  }
}

}  // namespace effort::measure
