#include "analytics/sampling/kept_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace effort::sampling {
namespace {

constexpr double far = 3.5;  // modified z-score of outliers (Iglewicz and Hoaglin 1993)
constexpr std::size_t most_outliers = 8;
constexpr std::size_t least_compared = 5;    // fewer ranks do not show what is usual
constexpr std::int64_t most_compared = 256;  // medians of all ranks would take most of the time of the choice
constexpr double badly_predicted = 0.1;      // mean error relative to the mean load

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What is usual in a stratum: the median and the median absolute deviation of at most `most_compared` members, evenly
/// spaced by rank.
struct Usual {
  std::int64_t members = 0, skip = 0;
  std::vector<double> compared;
  double middle = 0, deviation = 0;

  void find() {
    if (compared.size() < least_compared) return;
    middle = median(compared);
    for (double& v : compared) v = std::fabs(v - middle);
    deviation = 1.4826 * median(compared);
  }
};

/// The ranks whose modified z-score within their stratum is largest and above `far`, worst first.
std::vector<std::int32_t> outliers(const WindowFacts& w) {
  std::vector<Usual> usual(static_cast<std::size_t>(w.strata));
  const auto of = [&](std::size_t r) -> Usual& { return usual[static_cast<std::size_t>(w.stratum[r])]; };
  for (std::size_t r = 0; r < w.load.size(); ++r) ++of(r).members;
  for (std::size_t r = 0; r < w.load.size(); ++r) {
    Usual& u = of(r);
    if (u.skip-- > 0) continue;
    u.compared.push_back(w.load[r]);
    u.skip = u.members / most_compared;
  }
  for (Usual& u : usual) u.find();
  std::vector<std::pair<double, std::int32_t>> found;
  for (std::size_t r = 0; r < w.load.size(); ++r) {
    const Usual& u = of(r);
    const double away = std::fabs(w.load[r] - u.middle);
    if (u.deviation > 0 && away > far * u.deviation)
      found.emplace_back(-away / u.deviation, static_cast<std::int32_t>(r));
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), most_outliers));
  std::vector<std::int32_t> out;
  for (const auto& [z, r] : found) out.push_back(r);
  return out;
}

/// The rank whose load differs most from `other`; -1 if the mean difference is below `least` of the mean load.
std::int32_t farthest(std::span<const double> load, std::span<const double> other, double least) {
  if (other.size() != load.size()) return -1;
  double largest = -1, differences = 0, loads = 0;
  std::int32_t rank = -1;
  for (std::size_t r = 0; r < load.size(); ++r) {
    const double difference = std::fabs(load[r] - other[r]);
    differences += difference;
    loads += load[r];
    if (difference > largest) {
      largest = difference;
      rank = static_cast<std::int32_t>(r);
    }
  }
  return differences > least * loads ? rank : -1;
}

/// The first rank of largest load.  The standard algorithm reads the largest value from memory again for each rank, and
/// takes six times as long.
std::int32_t most_loaded(std::span<const double> load) {
  std::size_t rank = 0;
  double largest = load[0];
  for (std::size_t r = 1; r < load.size(); ++r) {
    if (load[r] <= largest) continue;
    largest = load[r];
    rank = r;
  }
  return static_cast<std::int32_t>(rank);
}

/// Ranks that are of interest in themselves, in order of priority.
using Certainties = std::vector<std::pair<Reason, std::int32_t>>;

Certainties certainties(const WindowFacts& w) {
  Certainties out;
  for (const std::int32_t rank : w.medoids) out.emplace_back(reason_medoid, rank);
  out.emplace_back(reason_critical, most_loaded(w.load));
  for (const std::int32_t rank : outliers(w)) out.emplace_back(reason_outlier, rank);
  if (w.rebalanced)
    out.emplace_back(reason_rebalance,
                     static_cast<std::int32_t>(std::min_element(w.load.begin(), w.load.end()) - w.load.begin()));
  if (w.jumped) out.emplace_back(reason_jump, farthest(w.load, w.before, 0));
  out.emplace_back(reason_mispredicted, farthest(w.load, w.predicted, badly_predicted));
  return out;
}

/// Makes the ranks that are kept anyway a separate part, if fewer ranks are then kept in all.
PlannedSample cheapest(const WindowFacts& w, const Certainties& certain, std::span<const Target> targets,
                       std::span<const Group> groups, std::int64_t affordable) {
  PlannedSample without = plan_sample(targets, w.stratum, w.strata, groups);
  std::vector<std::int32_t> anyway;
  for (const auto& [reason, rank] : certain)
    if (reason & (reason_critical | reason_outlier)) anyway.push_back(rank);
  std::sort(anyway.begin(), anyway.end());
  anyway.erase(std::unique(anyway.begin(), anyway.end()), anyway.end());
  if (!groups.empty() || anyway.size() >= w.load.size()) return without;
  PlannedSample with = plan_sample(targets, w.stratum, w.strata, groups, anyway);
  const std::int64_t kept = without.total() + static_cast<std::int64_t>(anyway.size());
  return with.total() < (kept <= affordable ? kept : without.total()) ? with : without;
}

KeptRanks with_sample(const WindowFacts& w, const Certainties& certain, const DrawnSample& sample,
                      std::int64_t affordable) {
  KeptRanks out;
  const auto n = static_cast<std::int32_t>(w.load.size());
  std::map<std::int32_t, KeptRanks::Rank> kept;
  const auto add = [&](std::int32_t rank, Reason reason) {
    if (rank < 0 || rank >= n) return;
    const bool sampled = reason == reason_sample;  // was already reduced to fit
    if (!sampled && !kept.count(rank) && static_cast<std::int64_t>(kept.size()) >= affordable) return;
    KeptRanks::Rank& entry = kept[rank];
    entry.rank = rank;
    entry.reasons = static_cast<std::uint16_t>(entry.reasons | reason);
  };
  for (const std::int32_t rank : w.pinned) add(rank, reason_pin);
  for (const std::int32_t rank : sample.ranks) add(rank, reason_sample);
  for (const auto& [reason, rank] : certain) add(rank, reason);
  for (auto& [rank, entry] : kept) {
    const auto r = static_cast<std::size_t>(rank);
    entry.probability = sample.plan.probability(r);
    entry.stratum = static_cast<std::int32_t>(sample.plan.part_of(r));
    out.ranks.push_back(entry);
  }
  for (std::size_t h = 0; h < sample.plan.size.size(); ++h)
    out.strata.push_back(
        {static_cast<std::int32_t>(sample.plan.population[h]), static_cast<std::int32_t>(sample.plan.size[h])});
  return out;
}

}  // namespace

KeptRanks choose_ranks(const WindowFacts& w, const DrawnSample& sample, std::int64_t affordable) {
  return with_sample(w, certainties(w), sample, affordable);
}

bool KeptRanks::concerns_all_ranks() const {
  constexpr int of_the_window = reason_rebalance | reason_jump;
  return std::any_of(ranks.begin(), ranks.end(), [](const Rank& r) { return (r.reasons & of_the_window) != 0; });
}

bool KeptRanks::has_sample() const {
  return std::any_of(ranks.begin(), ranks.end(), [](const Rank& r) { return (r.reasons & reason_sample) != 0; });
}

KeptRanks choose_ranks(const WindowFacts& w, std::span<const Target> targets, std::span<const Group> groups,
                       std::int64_t affordable) {
  if (w.load.empty()) return {};
  const auto n = static_cast<std::int32_t>(w.load.size());
  const auto pinned = std::count_if(w.pinned.begin(), w.pinned.end(), [n](std::int32_t r) { return r >= 0 && r < n; });
  const std::int64_t left = std::max<std::int64_t>(0, affordable - pinned);
  const Certainties certain = certainties(w);
  DrawnSample sample{cheapest(w, certain, targets, groups, left), {}};
  shrink(sample.plan, left);
  sample.ranks = draw(sample.plan, w.load.size(), static_cast<std::uint64_t>(w.window));
  KeptRanks out = with_sample(w, certain, sample, affordable);
  out.reached = reached(sample.plan, targets[0]);
  return out;
}

}  // namespace effort::sampling
