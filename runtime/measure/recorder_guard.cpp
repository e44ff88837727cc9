// The recorder's side of the overhead guard: what measuring costs, and what the guard has decided.
#include "runtime/measure/boundary.hpp"
#include "runtime/measure/recorder.hpp"
#include "runtime/measure/slot_reader.hpp"

#include <algorithm>

namespace effort::measure {
namespace {

// Often enough to react within a window, seldom enough that an interval means something.
constexpr double least_seconds_between_looks = 0.05;
constexpr int least_steps_between_looks = 4;

/// Seconds per round of `body`, the least of several chunks: what interrupts is not the cost.
template <typename Body>
double seconds_per_round(const Body& body) {
  constexpr int chunks = 5, rounds = 64;
  std::uint64_t least = ~std::uint64_t{0};
  for (int c = 0; c < chunks; ++c) {
    const std::uint64_t start = ticks();
    for (int i = 0; i < rounds; ++i) body();
    least = std::min(least, ticks() - start);
  }
  return static_cast<double>(least) * tick_rate().seconds_per_tick / rounds;
}

}  // namespace

/// On a slot of its own that nobody reads; counters on the thread's, which has them open.
void Recorder::measure_cost(ThreadSlot& own) {
  const auto scratch = std::make_unique<ThreadSlot>();
  prepare_slot(*scratch, session_, 1, {});
  const auto pair = [&] {
    open_region(*scratch, 1);
    close_region(*scratch, 1);
  };
  cost_.timed = seconds_per_round(pair);
  SamplingPlan plan{2, std::make_unique<Sampling[]>(2)};
  plan.calls[1] = {Guard::longest_period, 1, 0};
  scratch->offered.store(&plan, std::memory_order_relaxed);
  ask(*scratch, resample);
  cost_.skipped = std::min(seconds_per_round(pair), cost_.timed);
  if (!own.boundary) return;
  std::int64_t values[max_metrics];
  cost_.timed += 2 * seconds_per_round([&] { own.boundary->read(values); });
}

void Recorder::guard_step(std::uint64_t now) {
  for (auto& reader : readers_)
    if (reader->sampling_version != sampling_version_ && reader->slot->session.load(std::memory_order_acquire) == session_) offer_periods(*reader);
  const double wall = static_cast<double>(now - look_stamp_) * tick_rate().seconds_per_tick;
  if (cost_.timed == 0 || ++looked_steps_ < least_steps_between_looks || wall < least_seconds_between_looks) return;
  std::vector<std::int64_t> begins(kinds_.size(), 0);
  for (auto& reader : readers_) {
    if (reader->slot->session.load(std::memory_order_acquire) != session_) continue;
    reader->looked.resize(reader->begins.size(), 0);
    for (std::size_t r = 1; r < std::min(begins.size(), reader->begins.size()); ++r) {
      begins[r] = std::max(begins[r], reader->begins[r] - reader->looked[r]);
      reader->looked[r] = reader->begins[r];
    }
  }
  if (guard_.look(begins, fixed_, wall, cost_)) {
    ++sampling_version_;
    note_sampling();
    for (auto& reader : readers_)
      if (reader->slot->session.load(std::memory_order_acquire) == session_) offer_periods(*reader);
  }
  // One look may have fallen on a moment in which the rank did not run.
  exhausted_looks_ = guard_.exhausted() ? exhausted_looks_ + 1 : 0;
  if (exhausted_looks_ >= 3) registry_.note("measuring costs more than MAX_OVERHEAD although it has been coarsened: make regions larger, or steps longer");
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
  std::uint64_t state = 0x2545f4914f6cdd1du + reader.slot->number + sampling_version_ * 7919u;
  for (std::size_t r = 0; r < periods.size(); ++r) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    plan->calls[r] = {periods[r], 0, static_cast<std::uint32_t>((state >> 32) * periods[r] >> 32)};
  }
  reader.slot->offered.store(plan.get(), std::memory_order_release);
  reader.slot->plans.push_back(std::move(plan));
  reader.sampling_version = sampling_version_;
  ask(*reader.slot, resample);
}

/// Says which regions are timed by sampling, and counts their calls from now on.
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
  if (calls_metric_ == 0 && registry_.n_metrics() < max_metrics) calls_metric_ = registry_.metric("calls", "1").id;
}

}  // namespace effort::measure
