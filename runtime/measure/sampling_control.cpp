#include "runtime/measure/sampling_control.hpp"

#include <algorithm>
#include <bit>

namespace effort::measure {
namespace {

// Frequent enough to react within a window, and rare enough for an interval to be representative.
constexpr double least_seconds_between_looks = 0.05;
constexpr int least_steps_between_looks = 4;
// Timed calls per step that a region keeps if its sampling error affects the load, because either the region or its
// parent, but not both, is part of the load.  If the standard deviation of the calls is at most their mean, the error
// is 2 % of the region's load; if it is larger, so many more calls are timed that the error is the same.
constexpr double least_apart = 2500;
// One timed call and those that it represents make up at most this share of a region's load in a step.  Calls of which
// many cost more are not sampled, so this only limits what a rare interruption can do.
constexpr double most_of_one_call = 0.05;
// Share of the computing time that an accurate load may cost, even if it exceeds MAX_OVERHEAD.  Above it, the region is
// sampled regardless of the error.
constexpr double worth_its_cost = 0.1;
// Maximum number of looks (at least 3 s) before a region that could not be sampled is observed again.
constexpr int longest_rest = 64;
// A single look may coincide with a moment in which the rank did not run.
constexpr int exhausted_looks_before_note = 3;

}  // namespace

void SamplingControl::step(std::span<SlotReader* const> readers, const StepFrame& frame, const Reading& how,
                           std::uint64_t now, Registry& registry) {
  if (limit_ <= 0) return;
  for (SlotReader* reader : readers)
    if (reader->plan_version != version_) offer_periods(*reader);
  const bool cpu_time_is_read = how.counters.cpu() >= 0;
  waited_ += cpu_time_is_read ? frame.cpu_wait : frame.wait;
  const double wall = static_cast<double>(now - look_stamp_) * tick_rate().seconds_per_tick;
  if (!how.cost.known() || ++looked_steps_ < least_steps_between_looks || wall < least_seconds_between_looks) return;
  look(readers, frame, how, wall, registry);
  look_stamp_ = now;
  looked_steps_ = 0;
  fixed_ = 0;
}

void SamplingControl::look(std::span<SlotReader* const> readers, const StepFrame& frame, const Reading& how,
                           double wall, Registry& registry) {
  std::vector<std::int64_t> begins(frame.n_regions(), 0);
  double measured = 0;
  for (SlotReader* reader : readers) {
    measured = std::max(measured, reader->measured());
    reader->raise_to_calls(frame, begins);
  }
  // Cost that sampling cannot reduce.
  fixed_ += std::max(0.0, measured - guard_.seconds(begins, how.cost.pair));
  const double seconds = computing(readers, how.counters.cpu() >= 0, wall);
  for (SlotReader* reader : readers) reader->looked();
  load_counter_ = how.counters.place_of(how.load.metric);
  const bool changed = guard_.look(begins, fixed_, seconds, how.cost.pair);
  if (limit_apart(readers, begins, seconds, how.cost.pair) || changed) {
    ++version_;
    for (SlotReader* reader : readers) offer_periods(*reader);
  }
  note_sampling(registry);
  // A rank that mostly waits for others has little computing time.  What measuring takes there rarely delays anybody.
  const bool matters = guard_.share() * seconds > limit_ * wall;
  exhausted_looks_ = guard_.exhausted() && matters ? exhausted_looks_ + 1 : 0;
  if (exhausted_looks_ >= exhausted_looks_before_note)
    registry.note(
        "measuring takes a larger share of the computing time than MAX_OVERHEAD, and regions that affect the load "
        "cannot be sampled more coarsely: make regions larger, or steps longer");
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

/// Chooses the periods of calls whose sampling errors are errors of the load.  Returns whether any has changed.
bool SamplingControl::limit_apart(std::span<SlotReader* const> readers, std::span<const std::int64_t> begins,
                                  double computing, const PairCost& cost) {
  const auto periods = guard_.periods();
  apart_.resize(periods.size());
  bool changed = false;
  for (std::size_t r = 0; r < periods.size(); ++r) {
    Apart& apart = apart_[r];
    const Apart before = apart;
    SlotReader::Calls seen;
    for (SlotReader* reader : readers) reader->add_sampled_calls(r, seen);
    const std::int64_t calls = r < begins.size() ? begins[r] : 0;
    std::uint32_t affordable = 1;
    while (affordable < periods[r] &&
           pair_seconds(calls, affordable, cost) > std::max(limit_, worth_its_cost) * computing)
      affordable *= 2;
    if (periods[r] <= 1)
      apart = {};
    else if (apart.resting)
      apart.resting = --apart.looks_to_rest > 0;
    else if (seen.apart > 0)
      judge(apart, seen, calls / looked_steps_, periods[r], affordable);
    apart.skips = apart.period > 1 || seen.alike > 0;
    if (apart.period == before.period && apart.most < 2 * before.most && before.most < 2 * apart.most)
      apart.most = before.most;
    changed = changed || apart.period != before.period || apart.most != before.most || apart.resting != before.resting;
  }
  return changed;
}

/// Chooses the period of one region from the calls that were timed since the last look.
/// @param longest  period that the guard would choose
/// @param least    shortest period at which the cost is acceptable at all
void SamplingControl::judge(Apart& apart, const SlotReader::Calls& seen, std::int64_t per_step, std::uint32_t longest,
                            std::uint32_t least) {
  const double n = static_cast<double>(seen.apart), mean = seen.sum / n;
  const double square = mean > 0 ? seen.square / n / (mean * mean) - 1 : 0;  // of the coefficient of variation
  const auto period_for = [&](double timed) {
    return std::bit_floor(
        static_cast<std::uint32_t>(std::clamp(static_cast<double>(per_step) / timed, 1.0, double(longest))));
  };
  const std::uint32_t accurate = period_for(least_apart * std::max(1.0, square));
  apart.period = std::max(accurate, std::min(least, period_for(least_apart)));
  // If the calls vary too much for this period, a limit would make the load wrong, not only uncertain.
  apart.most = apart.period == accurate ? most_of_one_call * mean * static_cast<double>(per_step) / apart.period : 0;
  if (apart.period > 1) {
    apart.next_rest = std::max(1, apart.next_rest - 1);
  } else if (seen.alike == 0) {
    apart.resting = true;
    apart.looks_to_rest = apart.next_rest;
    apart.next_rest = std::min(2 * apart.next_rest, longest_rest);
  }
}

/// Offers the current periods to a slot's thread, which adopts them at its next region boundary.
void SamplingControl::offer_periods(SlotReader& reader) {
  const auto periods = guard_.periods();
  auto plan = std::make_unique<SamplingPlan>(static_cast<std::uint32_t>(periods.size()));
  plan->load = load_counter_;
  std::uint64_t state = 0x2545f4914f6cdd1du + reader.slot().number() + version_ * 7919u;
  const auto draw = [&](Sampling& sampling, std::uint32_t period) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    sampling.period = period;
    sampling.pick = static_cast<std::uint32_t>((state >> 32) * period >> 32);
  };
  for (std::size_t r = 0; r < periods.size(); ++r) {
    const Apart apart = r < apart_.size() ? apart_[r] : Apart{};
    draw(plan->calls[r], apart.resting ? 1 : periods[r]);
    draw(plan->apart[r], apart.period);
    if (apart.most > 0) plan->apart[r].most = apart.most;
  }
  reader.offer(std::move(plan));
  reader.plan_version = version_;
}

/// Adds notes on the regions that are timed by sampling.
void SamplingControl::note_sampling(Registry& registry) {
  noted_.resize(std::max(noted_.size(), apart_.size()), false);
  for (std::uint32_t r = 1; r < apart_.size(); ++r) {
    if (!apart_[r].skips || noted_[r] || notes_left_ == 0) continue;
    noted_[r] = true;
    std::string text =
        "the overhead guard (MAX_OVERHEAD) counts region '" + registry.region_name(r) + "' and times it by sampling";
    if (--notes_left_ == 0) text = "the overhead guard (MAX_OVERHEAD) times further regions by sampling";
    registry.note(text.substr(0, max_name).c_str());
  }
}

}  // namespace effort::measure
