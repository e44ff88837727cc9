#include "runtime/measure/slot_reader.hpp"

#include <algorithm>
#include <utility>

namespace effort::measure {

/// Number of regions known to both the slot and the frame, including `outside`.
inline std::uint32_t SlotReader::visible_regions(const StepFrame& frame) const {
  return std::min(slot_->known.load(std::memory_order_acquire), frame.n_regions() - 1) + 1;
}

void SlotReader::read(const Reading& how, bool stepping, std::uint64_t now, StepFrame& frame) {
  stepping_ = stepping;
  const std::uint32_t n = visible_regions(frame);
  if (ticks_.size() < n) {
    ticks_.resize(n, 0);
    begins_.resize(n, 0);
    counters_.resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(slot_->counters.count()), 0);
  }
  load_ = 0;
  read_ticks(how, n, now, frame);
  read_counters(how, n, frame);
  const double measured = read_begins(how.cost, n, frame);
  measured_ += measured;
  if (!own_ticks_set_ && how.cost.known()) set_own_ticks(how.cost);
  read_metrics(how, n, frame);
  read_work(frame);
  load_ = std::max(0.0, load_ - std::exchange(left_out_, 0.0));
  frame.add_thread(load_, measured);
  if (how.load.in_seconds()) computed_ += load_;
}

/// The ticks of a slot's regions since the last step.
inline void SlotReader::read_ticks(const Reading& how, std::uint32_t n, std::uint64_t now, StepFrame& frame) {
  const Cell* cells = slot_->cells.load(std::memory_order_acquire);
  // The current region has accumulated time since its last boundary, possibly in another thread (see ThreadSlot).  If
  // sampling is involved, the next boundary accounts for it.
  const std::uint32_t word = slot_->current.load(std::memory_order_acquire);
  const std::uint32_t running = word & (skipped | weighted) ? n : region_of(word);
  std::uint64_t running_total = 0;
  if (running < n) {
    running_total = cells[running].ticks.load(std::memory_order_acquire);
    const std::uint64_t stamp = slot_->stamp.load(std::memory_order_acquire);
    if (now > stamp) running_total += now - stamp;
  }
  const double seconds_per_tick = tick_rate().seconds_per_tick;
  std::uint64_t load = 0;
  for (std::uint32_t r = 0; r < n; ++r) {
    std::uint64_t total = cells[r].ticks.load(std::memory_order_acquire);
    if (r == running) total = running_total;
    const bool computes = frame.kind(r) == Kind::compute;
    if (r != outside && computes) load += total;
    const auto delta = static_cast<std::int64_t>(total - ticks_[r]);
    // A later step makes up for a total that was read slightly too far and for a corrected estimate.
    if (delta <= 0) continue;
    ticks_[r] = total;
    if (r == outside) continue;
    const double seconds = static_cast<double>(delta) * seconds_per_tick + own_in_waits(r, frame);
    frame.fold(0, r, seconds, how.load.sums());
    if (stepping_ && !computes) frame.wait += seconds;
  }
  if (how.load.metric == 0) add_load(load_ticks_, load, seconds_per_tick);
}

/// Reads a slot's counters: per region if they are read at boundaries, otherwise for the whole step.
inline void SlotReader::read_counters(const Reading& how, std::uint32_t n, StepFrame& frame) {
  for (int c = 0; c < slot_->counters.count(); ++c) read_counter(how, c, n, frame);
  read_step_counters_of(how, frame);
}

void SlotReader::read_counter(const Reading& how, int counter, std::uint32_t n, StepFrame& frame) {
  const CounterChoice::Metric& metric = how.counters.at_boundaries()[static_cast<std::size_t>(counter)];
  const bool is_cpu_time = counter == how.counters.cpu();
  // Counts are summed over threads.  Seconds and the load metric are combined according to LOAD_THREADS.
  const bool sum = how.load.sums() || (metric.id != how.load.metric && !is_cpu_time);
  std::uint64_t load = 0;
  for (std::uint32_t r = 0; r < n; ++r) {
    const std::int64_t total = slot_->counters.total(r, counter);
    const bool computes = frame.kind(r) == Kind::compute;
    if (r != outside && computes) load += static_cast<std::uint64_t>(total);
    std::int64_t& last = counters_[static_cast<std::size_t>(r) * static_cast<std::size_t>(slot_->counters.count()) +
                                   static_cast<std::size_t>(counter)];
    const auto delta = static_cast<std::int64_t>(static_cast<std::uint64_t>(total) - static_cast<std::uint64_t>(last));
    if (delta <= 0) continue;
    last = total;
    if (r == outside) continue;
    const double value = static_cast<double>(delta) * metric.scale + (is_cpu_time ? own_in_waits(r, frame) : 0);
    frame.fold(metric.id, r, value, sum);
    if (stepping_ && is_cpu_time && !computes) frame.cpu_wait += value;
  }
  if (metric.id == how.load.metric) add_load(load_counts_, load, metric.scale);
}

inline void SlotReader::read_step_counters_of(const Reading& how, StepFrame& frame) {
  const auto n = static_cast<std::size_t>(slot_->counters.step_count());
  if (n == 0) return;
  step_totals_.resize(n, 0);
  for (std::size_t c = 0; c < n; ++c) {
    const CounterChoice::Metric& metric = how.counters.at_steps()[c];
    const std::int64_t total = slot_->counters.step_total(static_cast<int>(c));
    const auto grown =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(total) - static_cast<std::uint64_t>(step_totals_[c]));
    step_totals_[c] = total;
    frame.add_step_value(c, static_cast<double>(metric.value ? total : grown) * metric.scale);
  }
  if (!stepping_) slot_->ask(read_step_counters);
}

inline void SlotReader::read_metrics(const Reading& how, std::uint32_t n, StepFrame& frame) {
  for (std::uint32_t m = 0; m < frame.n_series(); ++m) {
    const std::atomic<double>* cells = slot_->amounts.metric(m);
    if (!cells) continue;
    metric_.resize(std::max<std::size_t>(metric_.size(), m + 1));
    if (metric_[m].size() < n) metric_[m].resize(n, 0);
    const bool is_load = m == how.load.metric;
    for (std::uint32_t r = 0; r < n; ++r) {
      const double total = cells[r].load(std::memory_order_acquire);
      const double delta = total - metric_[m][r];
      metric_[m][r] = total;
      if (delta <= 0) continue;
      frame.fold(m, r, delta, how.load.sums() || !is_load);
      if (is_load && frame.kind(r) == Kind::compute) load_ += delta;
    }
  }
}

inline void SlotReader::read_work(StepFrame& frame) {
  if (work_.size() < frame.n_units()) work_.resize(frame.n_units(), 0);
  for (std::uint32_t u = 0; u < frame.n_units(); ++u) {
    const double total = slot_->amounts.work(u);
    frame.add_work(u, total - work_[u]);
    work_[u] = total;
  }
}

/// Reads how often each region was begun since the last step; returns the seconds that measuring them took.
inline double SlotReader::read_begins(const MeasuringCost& cost, std::uint32_t n, StepFrame& frame) {
  const Cell* cells = slot_->cells.load(std::memory_order_acquire);
  const std::int64_t skips = slot_->sampling.skips();
  const std::uint64_t readings = slot_->counters.cpu_readings();
  double seconds = static_cast<double>(skips - skips_) * (cost.pair.skipped - cost.pair.timed) +
                   static_cast<double>(readings - cpu_readings_) * cost.cpu_reading;
  skips_ = skips;
  cpu_readings_ = readings;
  for (std::uint32_t r = 1; r < n; ++r) {
    const std::int64_t total = cells[r].begins.load(std::memory_order_relaxed) & ~sampled_sign;
    const std::int64_t delta = total - begins_[r];
    if (delta <= 0) continue;
    begins_[r] = total;
    frame.add_calls(r, static_cast<double>(delta));
    seconds += static_cast<double>(delta) * cost.pair.timed;
  }
  return std::max(0.0, seconds);
}

/// The load of all COMPUTE regions together.  When sampling moves time from one region to another, the sum is right
/// immediately.
inline void SlotReader::add_load(std::uint64_t& last, std::uint64_t total, double scale) {
  const auto delta = static_cast<std::int64_t>(total - last);
  if (delta <= 0) return;
  last = total;
  load_ += static_cast<double>(delta) * scale;
}

/// Seconds of the library's own time that the boundaries of a waiting region have subtracted since the last step.
/// Without the library, the region would have waited for the same total time.
inline double SlotReader::own_in_waits(std::uint32_t region, const StepFrame& frame) const {
  if (frame.kind(region) == Kind::compute || !own_ticks_set_) return 0;
  const std::int64_t begins =
      slot_->cells.load(std::memory_order_acquire)[region].begins.load(std::memory_order_relaxed) & ~sampled_sign;
  const std::uint64_t each = slot_->own.before_end.load(std::memory_order_relaxed);
  return static_cast<double>(static_cast<std::uint64_t>(begins - begins_[region]) * each) *
         tick_rate().seconds_per_tick;
}

/// Makes the slot subtract the library's own time at its boundaries.
void SlotReader::set_own_ticks(const MeasuringCost& cost) {
  own_ticks_set_ = true;
  slot_->own.before_begin.store(static_cast<std::uint64_t>(cost.before_begin), std::memory_order_relaxed);
  slot_->own.before_end.store(static_cast<std::uint64_t>(cost.before_end), std::memory_order_relaxed);
}

double SlotReader::load_since_step(const Reading& how, const StepFrame& frame) const {
  const std::uint32_t n = visible_regions(frame);
  const auto& at_boundaries = how.counters.at_boundaries();
  const std::uint32_t load = how.load.metric;
  const std::atomic<double>* amounts = load < frame.n_series() ? slot_->amounts.metric(load) : nullptr;
  std::uint64_t ticks = 0, count = 0;
  double amount = 0;
  for (std::uint32_t r = 1; r < n; ++r) {
    if (frame.kind(r) != Kind::compute) continue;
    ticks += slot_->cells.load(std::memory_order_acquire)[r].ticks.load(std::memory_order_relaxed);
    for (int c = 0; c < slot_->counters.count(); ++c)
      if (at_boundaries[static_cast<std::size_t>(c)].id == load)
        count += static_cast<std::uint64_t>(slot_->counters.total(r, c));
    if (!amounts) continue;
    const bool seen = metric_.size() > load && metric_[load].size() > r;
    amount += amounts[r].load(std::memory_order_relaxed) - (seen ? metric_[load][r] : 0.0);
  }
  const auto since = [](std::uint64_t total, std::uint64_t last, double scale) {
    return static_cast<double>(static_cast<std::int64_t>(total - last)) * scale;
  };
  if (load == 0) return since(ticks, load_ticks_, tick_rate().seconds_per_tick) + amount;
  for (const CounterChoice::Metric& m : at_boundaries)
    if (m.id == load) return since(count, load_counts_, m.scale);
  return amount;
}

void SlotReader::raise_to_calls(const StepFrame& frame, std::span<std::int64_t> most) const {
  for (std::size_t r = 1; r < std::min(most.size(), begins_.size()); ++r)
    // A region that does not compute is timed at every call.  The durations of its calls vary widely, and a sampling
    // error would be an error in the load.
    if (frame.kind(static_cast<std::uint32_t>(r)) == Kind::compute)
      most[r] = std::max(most[r], begins_[r] - (r < looked_.size() ? looked_[r] : 0));
}

void SlotReader::add_sampled_calls(std::size_t region, Calls& calls) {
  if (!plan_ || region >= plan_->size) return;
  const Scatter& s = plan_->scatter[region];
  const Calls now{s.calls.load(std::memory_order_relaxed), s.sum.load(std::memory_order_relaxed),
                  s.square.load(std::memory_order_relaxed), s.alike.load(std::memory_order_relaxed)};
  Calls& before = sampled_[region];
  calls.apart += now.apart - before.apart;
  calls.sum += now.sum - before.sum;
  calls.square += now.square - before.square;
  calls.alike += now.alike - before.alike;
  before = now;
}

void SlotReader::offer(std::unique_ptr<SamplingPlan> plan) {
  sampled_.assign(plan->size, {});
  plan_ = &slot_->sampling.offer(std::move(plan));
  slot_->ask(resample);
}

void SlotReader::looked() {
  looked_ = begins_;
  measured_ = computed_ = 0;
}

}  // namespace effort::measure
