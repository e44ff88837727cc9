#include "runtime/trace/sample_schedule.hpp"

#include <algorithm>

namespace effort::engine {

bool SampleSchedule::is_due(std::int64_t due) const {
  constexpr std::size_t enough = 4;  // windows that show how the load changes
  const bool learning = settings_.groups.empty() && changes_.size() < enough;
  const std::int64_t windows = learning ? 1 : settings_.update;
  return decides_in_advance() && (from_ < 0 || next_window(due) >= from_ + windows * tile_);
}

void SampleSchedule::learn(const window::Result& known, const SampleRules& rules, std::int64_t first_step) {
  if (!decides_in_advance() || known.stratum.size() != known.load.size()) return;
  load_ = known.load;
  const Decision* decision = of(first_step);
  if (!settings_.groups.empty() || !decision) return;
  if (decision->counted && decision->from == first_step) {
    changes_.start();
    counted_guided_ = decision->guided;
  }
  // Where the guiding metric is not counted, the load takes its place: the two cannot be compared.
  const bool guided = rules.guide_is_measured();
  if (guided != decision->guided || guided != counted_guided_) return;
  const sampling::Target target = rules.targets(load_)[0];
  // A sample for which there was no room says nothing about how large it should have been.
  if (!decision->affordable) {
    changes_.add(0.0, target);
  } else if (settings_.design == config::TraceDesign::subset) {
    changes_.add(decision->sample.plan, target);
  } else {
    changes_.add(decision->each, target);
  }
}

/// Makes the decision's sample large enough for the changes to come, as far as there is room.
void SampleSchedule::size_sample(Decision& d, std::span<const sampling::Target> targets, const SampleRules& rules,
                                 std::int64_t affordable) {
  const auto n = static_cast<std::int64_t>(targets[0].values.size());
  sampling::PlannedSample& plan = d.sample.plan;
  if (settings_.design == config::TraceDesign::subset) {
    if (settings_.groups.empty()) changes_.allow_for(plan, targets[0]);
    d.affordable = plan.total() <= affordable;
    sampling::shrink(plan, affordable);
    d.sample.ranks = sampling::draw(plan, targets[0].values.size(), static_cast<std::uint64_t>(d.from / tile_));
  } else {
    double wanted = sampling::independent_probability(targets, targets[0].values.size(), rules.groups());
    if (settings_.groups.empty()) wanted = changes_.allow_for(wanted, targets[0]);
    const double room = static_cast<double>(affordable) / static_cast<double>(n);
    d.affordable = wanted <= room;
    // As in shrink(): one rank says nothing about the variation.
    d.each = d.affordable ? wanted : affordable < 2 ? 0 : room;
  }
}

void SampleSchedule::decide(const window::Result& known, const SampleRules& rules, std::int64_t affordable,
                            std::int64_t due) {
  const std::size_t n = known.load.size();
  if (known.stratum.size() != n) return;  // nothing has been described yet
  from_ = next_window(due);
  Decision d{from_, {{{}, {static_cast<std::int64_t>(n)}, {0}}, {}}};
  d.guided = rules.guide_is_measured();
  // Strata are those of the last described window, so its loads are used, too: a later look is shorter.
  const auto targets = rules.targets(load_.empty() ? known.load : load_);
  if (settings_.design == config::TraceDesign::subset)
    d.sample.plan = sampling::plan_sample(targets, known.stratum, known.strata, rules.groups());
  d.counted = settings_.groups.empty() &&
              (counted_from_ < 0 || from_ >= counted_from_ + std::int64_t{settings_.update} * tile_);
  if (d.counted) {
    changes_.count_from(d.sample.plan, targets[0]);
    counted_from_ = from_;
  }
  size_sample(d, targets, rules, affordable);
  const auto drawn = [&](std::int32_t rank) {
    const auto& in = d.sample.ranks;
    const auto& pinned = rules.pinned();
    return std::binary_search(in.begin(), in.end(), rank) || std::binary_search(pinned.begin(), pinned.end(), rank);
  };
  for (std::size_t l = 0; l < ranks_.size(); ++l) probability_[l] = drawn(ranks_[l]) ? 1.0 : d.each;
  decisions_.push_back(std::move(d));
}

const SampleSchedule::Decision* SampleSchedule::of(std::int64_t first_step) {
  while (decisions_.size() > 1 && decisions_[1].from <= first_step) decisions_.pop_front();
  return decisions_.empty() || decisions_.front().from > first_step ? nullptr : &decisions_.front();
}

sampling::DrawnSample SampleSchedule::of_window(std::int64_t first_step, std::size_t n) {
  const Decision* decision = of(first_step);
  if (decision && settings_.design == config::TraceDesign::subset) return decision->sample;
  // For a given number of drawn ranks, each set of that size was equally likely: a simple random sample.
  sampling::DrawnSample sample{{{}, {static_cast<std::int64_t>(n)}, {0}}, {}};
  if (!decision) return sample;
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(n); ++r)
    if (sampling::is_drawn_independently(r, decision->each, static_cast<std::uint64_t>(first_step / tile_)))
      sample.ranks.push_back(r);
  sample.plan.size[0] = static_cast<std::int64_t>(sample.ranks.size());
  return sample;
}

}  // namespace effort::engine
