#include "analytics/sampling/kept_ranks.hpp"

#include "analytics/sampling/draw.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace effort::sampling {
namespace {

constexpr std::uint64_t seed = 0x5eed0f7ace;
constexpr double far = 3.5;  // modified z-score of outliers (Iglewicz and Hoaglin 1993)
constexpr std::size_t most_outliers = 8;
constexpr double badly_predicted = 0.1;  // mean error relative to the mean load

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The ranks whose modified z-score within their stratum is largest and above `far`, worst first.
std::vector<std::int32_t> outliers(const WindowFacts& w) {
  std::vector<std::pair<double, std::int32_t>> found;
  std::vector<std::vector<std::int32_t>> members(static_cast<std::size_t>(w.strata));
  for (std::size_t r = 0; r < w.load.size(); ++r)
    members[static_cast<std::size_t>(w.stratum[r])].push_back(static_cast<std::int32_t>(r));
  std::vector<double> values;
  for (const auto& ranks : members) {
    if (ranks.size() < 5) continue;  // too few to say what is usual
    values.clear();
    for (const std::int32_t r : ranks) values.push_back(w.load[static_cast<std::size_t>(r)]);
    const double middle = median(values);
    for (double& v : values) v = std::fabs(v - middle);
    const double deviation = 1.4826 * median(values);
    if (!(deviation > 0)) continue;
    for (const std::int32_t r : ranks) {
      const double z = std::fabs(w.load[static_cast<std::size_t>(r)] - middle) / deviation;
      if (z > far) found.emplace_back(-z, r);
    }
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

std::int32_t position(std::span<const double>::iterator at, std::span<const double> in) {
  return static_cast<std::int32_t>(at - in.begin());
}

/// Ranks that are of interest for themselves, in the order of priority.
std::vector<std::pair<Reason, std::int32_t>> certainties(const WindowFacts& w) {
  std::vector<std::pair<Reason, std::int32_t>> out;
  for (const std::int32_t rank : w.medoids) out.emplace_back(reason_medoid, rank);
  out.emplace_back(reason_critical, position(std::max_element(w.load.begin(), w.load.end()), w.load));
  for (const std::int32_t rank : outliers(w)) out.emplace_back(reason_outlier, rank);
  if (w.rebalanced)
    out.emplace_back(reason_rebalance, position(std::min_element(w.load.begin(), w.load.end()), w.load));
  if (w.jumped) out.emplace_back(reason_jump, farthest(w.load, w.before, 0));
  out.emplace_back(reason_mispredicted, farthest(w.load, w.predicted, badly_predicted));
  return out;
}

/// What the sample is drawn from, with the variances of the loads.
struct Sample {
  std::vector<std::int32_t> label;  // [n] strata of the sample
  std::vector<std::int64_t> population, drawn;
  std::vector<double> variance;
  double mean = 0;
  std::int64_t size() const { return std::accumulate(drawn.begin(), drawn.end(), std::int64_t{0}); }
};

void describe_strata(std::span<const double> load, Sample& s) {
  const std::size_t k = s.drawn.size();
  s.population.assign(k, 0);
  s.variance.assign(k, 0);
  std::vector<double> mean(k);
  const auto stratum = [&](std::size_t r) { return static_cast<std::size_t>(s.label[r]); };
  for (std::size_t r = 0; r < load.size(); ++r) {
    ++s.population[stratum(r)];
    mean[stratum(r)] += load[r];
    s.mean += load[r] / static_cast<double>(load.size());
  }
  for (std::size_t h = 0; h < k; ++h) mean[h] /= static_cast<double>(std::max<std::int64_t>(1, s.population[h]));
  for (std::size_t r = 0; r < load.size(); ++r)
    s.variance[stratum(r)] += (load[r] - mean[stratum(r)]) * (load[r] - mean[stratum(r)]);
  for (std::size_t h = 0; h < k; ++h)
    s.variance[h] /= static_cast<double>(std::max<std::int64_t>(1, s.population[h] - 1));
}

/// The smallest sample, drawn by stratum or from all ranks.
/// @param whole  ranks that are all in it, as a stratum of their own; not all ranks
Sample plan(const WindowFacts& w, const Accuracy& accuracy, std::span<const std::int32_t> whole) {
  Sample s;
  s.label.assign(w.stratum.begin(), w.stratum.end());
  for (const std::int32_t r : whole) s.label[static_cast<std::size_t>(r)] = w.strata;
  std::vector<double> load;
  std::vector<std::int32_t> stratum;
  double all = 0, rest = 0;
  for (std::size_t r = 0; r < w.load.size(); ++r) {
    all += w.load[r];
    if (s.label[r] == w.strata) continue;
    rest += w.load[r];
    load.push_back(w.load[r]);
    stratum.push_back(w.stratum[r]);
  }
  // The others may be as far from their own mean as all are allowed to be from theirs.
  const Accuracy relative{accuracy.confidence, rest > 0 ? accuracy.error * (all / rest) : accuracy.error};
  s.drawn = plan_samples(load, load.size(), 1, stratum, w.strata, {relative, 2}).allocation;
  const auto last = static_cast<std::int32_t>(s.drawn.size());
  for (std::int32_t& label : s.label) label = label == w.strata ? last : last == 1 ? 0 : label;
  if (!whole.empty()) s.drawn.push_back(static_cast<std::int64_t>(whole.size()));
  describe_strata(w.load, s);
  return s;
}

/// With the ranks that are kept anyway as a stratum of their own, if fewer ranks are then kept in all.
Sample cheapest(const WindowFacts& w, const Accuracy& accuracy, std::vector<std::int32_t> anyway,
                std::int64_t affordable) {
  std::sort(anyway.begin(), anyway.end());
  anyway.erase(std::unique(anyway.begin(), anyway.end()), anyway.end());
  Sample without = plan(w, accuracy, {});
  if (anyway.size() >= w.load.size()) return without;
  Sample with = plan(w, accuracy, anyway);
  const std::int64_t kept = without.size() + static_cast<std::int64_t>(anyway.size());
  return with.size() < (kept <= affordable ? kept : without.size()) ? with : without;
}

/// Makes the sample smaller until it is affordable: every stratum in proportion, but none below two ranks; if even that
/// is too much, nothing is drawn, because a part of the strata says nothing about the mean.
void shrink(Sample& s, std::int64_t affordable) {
  if (s.size() <= affordable) return;
  const double factor = static_cast<double>(affordable) / static_cast<double>(s.size());
  const auto least = [&](std::size_t h) { return std::min<std::int64_t>(2, s.population[h]); };
  for (std::size_t h = 0; h < s.drawn.size(); ++h)
    s.drawn[h] = std::max(std::min(s.drawn[h], least(h)),
                          static_cast<std::int64_t>(std::floor(static_cast<double>(s.drawn[h]) * factor)));
  while (s.size() > affordable) {
    const auto largest = std::max_element(s.drawn.begin(), s.drawn.end());
    if (*largest <= 2) {
      std::fill(s.drawn.begin(), s.drawn.end(), 0);
      return;
    }
    --*largest;
  }
}

/// Standard error of the estimated mean (Cochran 1977, equation 5.7); negative if a stratum is not in the sample.
double standard_error(const Sample& s) {
  const auto n = static_cast<double>(std::accumulate(s.population.begin(), s.population.end(), std::int64_t{0}));
  double variance = 0;
  for (std::size_t h = 0; h < s.drawn.size(); ++h) {
    if (s.population[h] == 0) continue;
    if (s.drawn[h] == 0) return -1;
    const auto members = static_cast<double>(s.population[h]);
    variance += (members / n) * (members / n) * s.variance[h] * (1 / static_cast<double>(s.drawn[h]) - 1 / members);
  }
  return std::sqrt(std::max(0.0, variance));
}

void describe(const Sample& s, const Accuracy& accuracy, KeptRanks& out) {
  for (std::size_t h = 0; h < s.drawn.size(); ++h)
    out.strata.push_back({static_cast<std::int32_t>(s.population[h]), static_cast<std::int32_t>(s.drawn[h])});
  const double deviation = standard_error(s);
  if (deviation < 0 || !(s.mean > 0)) return;
  out.error = normal_quantile(accuracy.confidence) * deviation / s.mean;
  out.confidence = deviation > 0 ? std::erf(accuracy.error * s.mean / deviation / std::sqrt(2.0)) : 1.0;
}

}  // namespace

KeptRanks choose_ranks(const WindowFacts& w, const Accuracy& accuracy, std::int64_t affordable) {
  KeptRanks out;
  const auto n = static_cast<std::int32_t>(w.load.size());
  if (n == 0) return out;
  std::map<std::int32_t, KeptRanks::Rank> kept;
  const auto add = [&](std::int32_t rank, Reason reason) {
    if (rank < 0 || rank >= n) return;
    if (!kept.count(rank) && static_cast<std::int64_t>(kept.size()) >= affordable) return;
    KeptRanks::Rank& entry = kept[rank];
    entry.rank = rank;
    entry.reasons = static_cast<std::uint16_t>(entry.reasons | reason);
  };
  for (const std::int32_t rank : w.pinned) add(rank, reason_pin);

  const auto certain = certainties(w);
  std::vector<std::int32_t> anyway;
  for (const auto& [reason, rank] : certain)
    if (reason & (reason_critical | reason_outlier)) anyway.push_back(rank);
  const std::int64_t left = affordable - static_cast<std::int64_t>(kept.size());
  Sample sample = cheapest(w, accuracy, std::move(anyway), left);
  shrink(sample, left);
  for (const std::int32_t rank :
       draw_by_stratum(sample.label, sample.drawn, {}, seed, static_cast<std::uint64_t>(w.window)))
    add(rank, reason_sample);
  for (const auto& [reason, rank] : certain) add(rank, reason);

  for (auto& [rank, entry] : kept) {
    entry.stratum = sample.label[static_cast<std::size_t>(rank)];
    const auto h = static_cast<std::size_t>(entry.stratum);
    entry.probability = static_cast<double>(sample.drawn[h]) / static_cast<double>(sample.population[h]);
    out.ranks.push_back(entry);
  }
  describe(sample, accuracy, out);
  return out;
}

}  // namespace effort::sampling
