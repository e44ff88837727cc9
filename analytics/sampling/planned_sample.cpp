#include "analytics/sampling/planned_sample.hpp"

#include "analytics/sampling/allocation.hpp"
#include "analytics/sampling/draw.hpp"
#include "analytics/sampling/moments.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effort::sampling {
namespace {

constexpr std::uint64_t seed = 0x5eed0f7ace;
constexpr std::int64_t least_of_part = 2;  // one rank says nothing about the variation

Moments moments_by_part(const PlannedSample& s, std::span<const double> values) {
  return moments_of(values, s.part, s.population.size());
}

/// The reduction of the mean's variance by one more rank of a part; 0 if no rank is left.
double gain(const PlannedSample& s, const Moments& m, std::size_t h) {
  const auto drawn = static_cast<double>(s.size[h]), members = static_cast<double>(s.population[h]);
  if (s.size[h] >= s.population[h]) return 0;
  return members * members * m.variance[h] * (drawn > 0 ? 1 / (drawn * (drawn + 1)) : 1);
}

double variance_of_mean(const PlannedSample& s, const Moments& m) {
  const auto n = static_cast<double>(std::accumulate(s.population.begin(), s.population.end(), std::int64_t{0}));
  double variance = 0;
  for (std::size_t h = 0; h < s.size.size(); ++h) {
    if (s.population[h] == 0) continue;
    const auto members = static_cast<double>(s.population[h]);
    const double missing = s.size[h] > 0 ? 1 / static_cast<double>(s.size[h]) - 1 / members : 1.0;
    variance += (members / n) * (members / n) * m.variance[h] * missing;
  }
  return std::max(0.0, variance);
}

/// Draws more ranks until the target is as accurate as it should be.
void enlarge(PlannedSample& s, const Target& target) {
  const Moments m = moments_by_part(s, target.values);
  const double mean = m.mean_of_all();
  if (!(mean > 0)) return;
  const double deviation = target.accuracy.error * mean / normal_quantile(target.accuracy.confidence);
  while (variance_of_mean(s, m) > deviation * deviation * (1 + 1e-12)) {
    std::size_t best = 0;
    for (std::size_t h = 1; h < s.size.size(); ++h)
      if (gain(s, m, h) > gain(s, m, best)) best = h;
    if (!(gain(s, m, best) > 0)) return;
    ++s.size[best];
  }
}

PlannedSample whole_run(std::size_t n) {
  return {{}, {static_cast<std::int64_t>(n)}, {std::min<std::int64_t>(least_of_part, static_cast<std::int64_t>(n))}};
}

PlannedSample plan_strata(const Target& first, std::span<const std::int32_t> stratum, int strata,
                          std::span<const std::int32_t> whole) {
  const std::size_t n = stratum.size();
  PlannedSample s = whole_run(n);
  s.part.assign(stratum.begin(), stratum.end());
  double certain = 0;
  for (const std::int32_t r : whole) {
    s.part[static_cast<std::size_t>(r)] = no_stratum;
    certain += first.values[static_cast<std::size_t>(r)];
  }
  const Moments m = moments_of(first.values, s.part, static_cast<std::size_t>(strata));
  // The others are allowed the same deviation from their own mean.
  const double rest = m.total();
  const double error = rest > 0 ? first.accuracy.error * ((rest + certain * m.factor) / rest) : first.accuracy.error;
  const Accuracy relative{first.accuracy.confidence, error};
  s.size = plan_samples(m.size, m.mean, m.variance, 1, {relative, least_of_part}).allocation;
  const auto last = static_cast<std::int32_t>(s.size.size());
  if (last > 1)
    s.population = m.size;
  else if (whole.empty())
    s.part.clear();
  else
    std::fill(s.part.begin(), s.part.end(), 0);
  if (!whole.empty()) {
    const auto certainly = static_cast<std::int64_t>(whole.size());
    if (last == 1) s.population[0] -= certainly;
    s.population.push_back(certainly);
    s.size.push_back(certainly);
    for (const std::int32_t r : whole) s.part[static_cast<std::size_t>(r)] = last;
  }
  // Even if the load alone needs just one: other estimates from the sample also need a confidence interval.
  for (std::size_t h = 0; h < s.size.size(); ++h)
    s.size[h] = std::max(s.size[h], std::min(least_of_part, s.population[h]));
  return s;
}

/// Part 2g holds the members of group g that are not pinned, part 2g + 1 the pinned ones.  The ranks of no group come
/// last.
PlannedSample group_parts(std::size_t n, std::span<const Group> groups) {
  PlannedSample s;
  s.part.assign(n, static_cast<std::int32_t>(2 * groups.size()));
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const auto& [ranks, part] : {std::pair(&groups[g].members, 2 * g), std::pair(&groups[g].pinned, 2 * g + 1)})
      for (const std::int32_t r : *ranks)
        if (r >= 0 && static_cast<std::size_t>(r) < n)
          s.part[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(part);
  s.population.assign(2 * groups.size() + 1, 0);
  for (const std::int32_t part : s.part) ++s.population[static_cast<std::size_t>(part)];
  s.size.assign(s.population.size(), 0);
  return s;
}

/// Ranks to draw from the members that are not pinned, so that the mean of the whole group is accurate enough.
std::int64_t size_of_part(const PlannedSample& s, const Moments& m, std::size_t part, std::int64_t pinned,
                          double group_mean, const Accuracy& accuracy) {
  const std::int64_t members = s.population[part];
  if (members == 0) return 0;
  const double share = static_cast<double>(members) / static_cast<double>(members + pinned);
  const double bound = accuracy.error * group_mean / share;
  const std::int64_t size = sample_size(members, std::sqrt(m.variance[part]), bound, accuracy.confidence);
  return std::max(size, std::min(members, least_of_part));
}

PlannedSample plan_groups(const Target& first, std::size_t n, std::span<const Group> groups) {
  PlannedSample s = group_parts(n, groups);
  const Moments m = moments_by_part(s, first.values);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t part = 2 * g;
    const std::int64_t pinned = s.population[part + 1];
    s.size[part + 1] = pinned;
    if (groups[g].size > 0) {
      s.size[part] = std::clamp<std::int64_t>(groups[g].size - pinned, 0, s.population[part]);
      continue;
    }
    const auto all = static_cast<double>(std::max<std::int64_t>(1, s.population[part] + pinned));
    const double mean =
        (m.mean[part] * static_cast<double>(s.population[part]) + m.mean[part + 1] * static_cast<double>(pinned)) / all;
    s.size[part] = size_of_part(s, m, part, pinned, mean, groups[g].accuracy);
  }
  s.size.back() = size_of_part(s, m, s.size.size() - 1, 0, m.mean.back(), first.accuracy);
  return s;
}

}  // namespace

std::int64_t PlannedSample::total() const { return std::accumulate(size.begin(), size.end(), std::int64_t{0}); }

double PlannedSample::probability(std::size_t rank) const {
  const std::size_t h = part_of(rank);
  return static_cast<double>(size[h]) / static_cast<double>(std::max<std::int64_t>(1, population[h]));
}

PlannedSample plan_sample(std::span<const Target> targets, std::span<const std::int32_t> stratum, int strata,
                          std::span<const Group> groups, std::span<const std::int32_t> whole) {
  const std::size_t n = stratum.size();
  PlannedSample s =
      groups.empty() ? plan_strata(targets[0], stratum, strata, whole) : plan_groups(targets[0], n, groups);
  for (const Target& target : targets.subspan(1)) enlarge(s, target);
  return s;
}

void shrink(PlannedSample& s, std::int64_t affordable) {
  if (s.total() <= affordable) return;
  const double factor = static_cast<double>(affordable) / static_cast<double>(s.total());
  for (std::size_t h = 0; h < s.size.size(); ++h)
    s.size[h] = std::max(std::min({s.size[h], s.population[h], least_of_part}),
                         static_cast<std::int64_t>(std::floor(static_cast<double>(s.size[h]) * factor)));
  while (s.total() > affordable) {
    const auto largest = std::max_element(s.size.begin(), s.size.end());
    if (*largest <= least_of_part) {
      std::fill(s.size.begin(), s.size.end(), 0);
      return;
    }
    --*largest;
  }
}

std::vector<std::int32_t> draw(const PlannedSample& s, std::size_t n, std::uint64_t window) {
  std::vector<std::int32_t> one(s.part.empty() ? n : 0, 0);
  return draw_by_stratum(s.part.empty() ? one : s.part, s.size, {}, seed, window);
}

double independent_probability(std::span<const Target> targets, std::size_t n, std::span<const Group> groups) {
  const PlannedSample sample = plan_sample(targets, std::vector<std::int32_t>(n), 1, groups);
  return static_cast<double>(sample.total()) / static_cast<double>(n);
}

bool is_drawn_independently(std::int32_t rank, double probability, std::uint64_t window) {
  if (probability <= 0 || probability >= 1) return probability >= 1;
  const std::uint64_t random = keyed_random(seed, window, static_cast<std::uint64_t>(rank));
  return static_cast<double>(random >> 11) * 0x1p-53 < probability;
}

Reached reached(const PlannedSample& s, const Target& target) {
  for (std::size_t h = 0; h < s.size.size(); ++h)
    if (s.population[h] > 0 && s.size[h] == 0) return {};
  const Moments m = moments_by_part(s, target.values);
  const double mean = m.mean_of_all();
  if (!(mean > 0)) return {};
  const double deviation = std::sqrt(variance_of_mean(s, m));
  const auto [confidence, error] = target.accuracy;
  return {normal_quantile(confidence) * deviation / mean,
          deviation > 0 ? std::erf(error * mean / deviation / std::sqrt(2.0)) : 1.0};
}

}  // namespace effort::sampling
