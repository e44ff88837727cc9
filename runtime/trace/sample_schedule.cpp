#include "runtime/trace/sample_schedule.hpp"

#include <algorithm>

namespace effort::engine {

bool SampleSchedule::is_due(std::int64_t due) const {
  return decides_in_advance() && (from_ < 0 || next_window(due) >= from_ + std::int64_t{settings_.update} * tile_);
}

void SampleSchedule::decide(const window::Result& known, const SampleRules& rules, std::int64_t affordable,
                            std::int64_t due) {
  const std::size_t n = known.load.size();
  if (known.stratum.size() != n) return;  // nothing has been described yet
  from_ = next_window(due);
  Decision d{from_, {}, 0};
  const auto targets = rules.targets(known.load);
  if (settings_.design == config::TraceDesign::subset) {
    d.sample.plan = sampling::plan_sample(targets, known.stratum, known.strata, rules.groups());
    sampling::shrink(d.sample.plan, affordable);
    d.sample.ranks = sampling::draw(d.sample.plan, n, static_cast<std::uint64_t>(from_ / tile_));
  } else {
    d.each = sampling::independent_probability(targets, n, rules.groups(), affordable);
  }
  const auto drawn = [&](std::int32_t rank) {
    const auto& in = d.sample.ranks;
    const auto& pinned = rules.pinned();
    return std::binary_search(in.begin(), in.end(), rank) || std::binary_search(pinned.begin(), pinned.end(), rank);
  };
  for (std::size_t l = 0; l < ranks_.size(); ++l) probability_[l] = drawn(ranks_[l]) ? 1.0 : d.each;
  decisions_.push_back(std::move(d));
}

sampling::DrawnSample SampleSchedule::of_window(std::int64_t first_step, std::size_t n) {
  while (decisions_.size() > 1 && decisions_[1].from <= first_step) decisions_.pop_front();
  const bool none = decisions_.empty() || decisions_.front().from > first_step;
  if (!none && settings_.design == config::TraceDesign::subset) return decisions_.front().sample;
  // For a given number of drawn ranks, each set of that size was equally likely: a simple random sample.
  sampling::DrawnSample sample{{{}, {static_cast<std::int64_t>(n)}, {0}}, {}};
  if (none) return sample;
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(n); ++r)
    if (sampling::is_drawn_independently(r, decisions_.front().each, static_cast<std::uint64_t>(first_step / tile_)))
      sample.ranks.push_back(r);
  sample.plan.size[0] = static_cast<std::int64_t>(sample.ranks.size());
  return sample;
}

}  // namespace effort::engine
