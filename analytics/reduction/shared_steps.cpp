#include "analytics/reduction/shared_steps.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "analytics/reduction/mixed.hpp"

namespace effort::reduction {

namespace {
constexpr std::size_t most_candidate_steps = 256;
}

SharedSteps::SharedSteps(const communication::Record& record, const Segments& segments,
                         const communication::Waits& waits, const std::vector<std::uint32_t>& location_of)
    : locations_(record.locations.size()) {
  const std::vector<Segment>& all = segments.segments;
  if (locations_ == 0 || all.size() % locations_ != 0) return;
  const std::size_t steps = all.size() / locations_;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].location != i / steps) return;
  steps_ = steps;
  structure_.assign(steps, 0);
  std::vector<std::uint32_t> step_of(record.calls.size(), communication::none);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::uint64_t& structure = structure_[i % steps];
    structure = mixed(structure, all[i].structure);
    for (std::size_t s = all[i].first; s < all[i].end; ++s)
      if (!segments.stamps[s].ends) step_of[segments.stamps[s].call] = static_cast<std::uint32_t>(i % steps);
  }
  // The entries, and the waits of calls in steps: the step and the entry of each.
  std::map<std::pair<communication::Cause, std::int32_t>, std::size_t> entry_of;
  for (const communication::Wait& wait : waits.waits) {
    const std::int32_t rank = record.locations[location_of[wait.call]].rank;
    if (step_of[wait.call] == communication::none || rank < 0 || rank >= record.n_ranks) continue;
    if (entry_of.try_emplace({wait.cause, rank}, entries_.size()).second)
      entries_.push_back({static_cast<std::size_t>(wait.cause), static_cast<std::size_t>(rank)});
  }
  waits_.assign(steps * entries_.size(), 0);
  for (const communication::Wait& wait : waits.waits) {
    const auto entry = entry_of.find({wait.cause, record.locations[location_of[wait.call]].rank});
    if (step_of[wait.call] == communication::none || entry == entry_of.end()) continue;
    waits_[step_of[wait.call] * entries_.size() + entry->second] += static_cast<double>(wait.ns);
  }
}

double SharedSteps::cost() const {
  return static_cast<double>(steps_) * static_cast<double>(std::min(steps_, most_candidate_steps)) *
         static_cast<double>(entries_.size());
}

std::vector<std::uint32_t> SharedSteps::representatives(std::span<const double> allowed_ns,
                                                        std::span<const double> gain) const {
  const std::size_t entries = entries_.size();
  std::vector<double> errors(entries, 0);
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> kept;
  std::vector<std::uint32_t> of_step(steps_);
  for (std::uint32_t step = 0; step < steps_; ++step) {
    const std::span<const double> own = waits_of(step);
    std::vector<std::uint32_t>& candidates = kept[structure_[step]];
    double least = 1;
    of_step[step] = step;
    for (std::size_t c = candidates.size() - std::min(candidates.size(), most_candidate_steps); c < candidates.size();
         ++c) {
      const std::uint32_t candidate = candidates[c];
      const std::span<const double> other = waits_of(candidate);
      double most = 0;
      for (std::size_t e = 0; e < entries && most <= least; ++e)
        most = std::max(most, std::abs(errors[e] + own[e] - gain[e] * other[e]) / allowed_ns[e]);
      if (most > least) continue;
      least = most;
      of_step[step] = candidate;
    }
    if (of_step[step] == step) {
      candidates.push_back(step);
      continue;
    }
    const std::span<const double> other = waits_of(of_step[step]);
    for (std::size_t e = 0; e < entries; ++e) errors[e] += own[e] - gain[e] * other[e];
  }
  std::vector<std::uint32_t> out(steps_ * locations_);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint32_t>(i - i % steps_) + of_step[i % steps_];
  return out;
}

}  // namespace effort::reduction
