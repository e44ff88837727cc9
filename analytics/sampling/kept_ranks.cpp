#include "analytics/sampling/kept_ranks.hpp"

#include "analytics/sampling/draw.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>

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

/// Strata as far as the sample is drawn by them, with the variances of the loads.
struct Sample {
  std::vector<std::int64_t> population, drawn;
  std::vector<double> variance;
  double mean = 0;
};

Sample sample_of(const WindowFacts& w, const SamplePlan& plan) {
  const auto n = w.load.size();
  const bool by_stratum = plan.allocation.size() > 1;
  const std::size_t k = by_stratum ? plan.allocation.size() : 1;
  Sample s{std::vector<std::int64_t>(k), plan.allocation, std::vector<double>(k), 0};
  std::vector<double> mean(k);
  const auto stratum = [&](std::size_t r) { return by_stratum ? static_cast<std::size_t>(w.stratum[r]) : 0; };
  for (std::size_t r = 0; r < n; ++r) {
    ++s.population[stratum(r)];
    mean[stratum(r)] += w.load[r];
    s.mean += w.load[r] / static_cast<double>(n);
  }
  for (std::size_t h = 0; h < k; ++h) mean[h] /= static_cast<double>(std::max<std::int64_t>(1, s.population[h]));
  for (std::size_t r = 0; r < n; ++r)
    s.variance[stratum(r)] += (w.load[r] - mean[stratum(r)]) * (w.load[r] - mean[stratum(r)]);
  for (std::size_t h = 0; h < k; ++h)
    s.variance[h] /= static_cast<double>(std::max<std::int64_t>(1, s.population[h] - 1));
  return s;
}

/// Makes the sample smaller until it is affordable: every stratum in proportion, but none below two ranks; if even that
/// is too much, nothing is drawn, because a part of the strata says nothing about the mean.
void shrink(Sample& s, std::int64_t affordable) {
  const auto total = [&] { return std::accumulate(s.drawn.begin(), s.drawn.end(), std::int64_t{0}); };
  if (total() <= affordable) return;
  const double factor = static_cast<double>(affordable) / static_cast<double>(total());
  const auto least = [&](std::size_t h) { return std::min<std::int64_t>(2, s.population[h]); };
  for (std::size_t h = 0; h < s.drawn.size(); ++h)
    s.drawn[h] = std::max(std::min(s.drawn[h], least(h)),
                          static_cast<std::int64_t>(std::floor(static_cast<double>(s.drawn[h]) * factor)));
  while (total() > affordable) {
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

  Sample sample = sample_of(w, plan_samples(w.load, w.load.size(), 1, w.stratum, w.strata, {accuracy, 2}));
  shrink(sample, affordable - static_cast<std::int64_t>(kept.size()));
  for (const std::int32_t rank :
       draw_by_stratum(w.stratum, sample.drawn, {}, seed, static_cast<std::uint64_t>(w.window)))
    add(rank, reason_sample);
  for (const auto& [reason, rank] : certainties(w)) add(rank, reason);

  const bool by_stratum = sample.drawn.size() > 1;
  for (auto& [rank, entry] : kept) {
    const auto h = by_stratum ? static_cast<std::size_t>(w.stratum[static_cast<std::size_t>(rank)]) : 0;
    entry.probability = static_cast<double>(sample.drawn[h]) / static_cast<double>(sample.population[h]);
    out.ranks.push_back(entry);
  }
  describe(sample, accuracy, out);
  return out;
}

}  // namespace effort::sampling
