#include "analytics/sampling/changes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace effort::sampling {

/// A window's values by part, in units of the mean of all ranks.
struct Changes::Parts {
  double ranks = 0;
  std::vector<double> population, variance;  ///< [parts]; the rank that stands out most is not in the variance
  std::size_t odd_part = 0;                  ///< the part of that rank
  Spread all;
};

/// By how much each rank exceeds the mean of its part, in units of the mean of all ranks.
std::vector<double> Changes::deviations(const PlannedSample& s, std::span<const double> values) {
  std::vector<double> mean(s.population.size()), out(values.size());
  double sum = 0;
  for (std::size_t r = 0; r < values.size(); ++r) {
    mean[s.part_of(r)] += values[r];
    sum += values[r];
  }
  if (!(sum > 0)) return out;
  for (std::size_t h = 0; h < mean.size(); ++h) mean[h] /= std::max(1.0, static_cast<double>(s.population[h]));
  const double unit = sum / static_cast<double>(values.size());
  for (std::size_t r = 0; r < values.size(); ++r) out[r] = (values[r] - mean[s.part_of(r)]) / unit;
  return out;
}

Changes::Parts Changes::parts_of(const PlannedSample& s, std::span<const double> away) {
  const std::size_t k = s.population.size();
  Parts p{static_cast<double>(away.size()), std::vector<double>(k), std::vector<double>(k), 0, {}};
  std::size_t odd = 0;
  for (std::size_t r = 0; r < away.size(); ++r) {
    ++p.population[s.part_of(r)];
    p.variance[s.part_of(r)] += away[r] * away[r];
    if (std::fabs(away[r]) > std::fabs(away[odd])) odd = r;
  }
  p.odd_part = s.part_of(odd);
  for (std::size_t h = 0; h < k; ++h) {
    double members = p.population[h];
    if (h == p.odd_part && members > 1) {
      // Without it, the mean of the others moves by away / (members - 1).
      p.variance[h] = std::max(0.0, p.variance[h] - away[odd] * away[odd] * members / (members - 1));
      p.all.odd = away[odd] * members / (members - 1) / p.ranks;
      members -= 1;
    }
    p.variance[h] = members > 1 ? p.variance[h] / (members - 1) : 0;
    p.all.variance += p.population[h] / p.ranks * p.variance[h];
  }
  return p;
}

namespace {

/// P(|shift + deviation Z| <= bound) of a standard normal Z.
double within(double bound, double shift, double deviation) {
  if (!(deviation > 0)) return std::fabs(shift) <= bound ? 1 : 0;
  const double scale = 1 / (deviation * std::numbers::sqrt2);
  return (std::erf((bound - shift) * scale) + std::erf((bound + shift) * scale)) / 2;
}

/// The same for an estimate that has this variance without the rank that stands out, and draws that one with this
/// probability.
double within(double bound, double variance, double odd, double drawn) {
  const double deviation = std::sqrt(std::max(0.0, variance));
  return drawn * within(bound, odd * (1 / drawn - 1), deviation) + (1 - drawn) * within(bound, -odd, deviation);
}

PlannedSample all_ranks(const Target& target) {
  const auto n = static_cast<std::int64_t>(target.values.size());
  return {{}, {n}, {n}};
}

constexpr double step = 0.2;  // of the goal, for a window whose sample was useless

/// Calls is_enough() with growing values until one is enough, and then with values in between; the last call is with
/// the smallest that was enough, to within 2 %.
template <typename Enough>
void smallest(double value, const Enough& is_enough) {
  if (is_enough(value)) return;
  double too_small = value;
  do {
    too_small = value;
    value *= 1.2;
  } while (!is_enough(value));
  for (int i = 0; i < 3; ++i) {
    const double middle = std::sqrt(too_small * value);
    (is_enough(middle) ? value : too_small) = middle;
  }
  is_enough(value);
}

}  // namespace

/// Of the estimate from a sample, averaged over these changes from now.  Any rank may be the one that newly stands out.
double Changes::confidence(const PlannedSample& sample, const Parts& now, std::span<const Spread> changes,
                           double error) {
  const double drawn = static_cast<double>(sample.total()) / now.ranks;
  if (!(drawn > 0)) return 0;
  const double odd_drawn = static_cast<double>(sample.size[now.odd_part]) / now.population[now.odd_part];
  double sum = 0;
  for (const Spread& c : changes) {
    double variance = 0;
    for (std::size_t h = 0; h < sample.size.size(); ++h) {
      if (sample.size[h] >= sample.population[h]) continue;
      const double n = std::max(1.0, static_cast<double>(sample.size[h])), share = now.population[h] / now.ranks;
      variance += share * share * (now.variance[h] + c.variance) * (1 / n - 1 / now.population[h]);
    }
    const bool another = std::fabs(c.odd) > std::fabs(now.all.odd);
    sum += another ? within(error, variance, c.odd, drawn) : within(error, variance, now.all.odd, odd_drawn);
  }
  return sum / static_cast<double>(changes.size());
}

/// Of the estimate from ranks that are drawn independently: over the binomial distribution of their number, of which at
/// most 65 values are evaluated.
double Changes::confidence(double p, const Parts& now, std::span<const Spread> changes, double error) {
  if (p >= 1) return 1;
  const double n = now.ranks, middle = p * n, reach = 6 * std::sqrt(middle * (1 - p)) + 1;
  const auto first = static_cast<std::int64_t>(std::max(0.0, middle - reach));
  const auto last = static_cast<std::int64_t>(std::min(n, std::ceil(middle + reach)));
  const std::int64_t stride = (last - first) / 64 + 1;
  double sum = 0, weights = 0, log_weight = 0;  // relative to that of `first`
  for (std::int64_t i = first; i <= last; ++i) {
    const auto m = static_cast<double>(i);
    if ((i - first) % stride == 0) {
      const double weight = std::exp(log_weight);
      weights += weight;
      for (const Spread& c : changes) {
        if (i == 0) continue;  // nothing is estimated
        const double variance = (now.variance[0] + c.variance) * (1 / m - 1 / n);
        const double odd = std::fabs(c.odd) > std::fabs(now.all.odd) ? c.odd : now.all.odd;
        sum += weight * within(error, variance, odd, m / n);
      }
    }
    log_weight += std::log((n - m) / (m + 1) * p / (1 - p));
  }
  return sum / weights / static_cast<double>(changes.size());
}

void Changes::count_from(const PlannedSample& sample, const Target& target) {
  std::vector<double> away = deviations(sample, target.values);
  const Spread spread = parts_of(sample, away).all;
  next_.push_back({sample, std::move(away), spread});
}

void Changes::start() {
  if (next_.empty()) return;
  origin_ = std::move(next_.front());
  next_.pop_front();
}

void Changes::add(const PlannedSample& drawn, const Target& target) {
  add_spread(target);
  if (drawn.total() == 0) return;
  const Parts parts = parts_of(drawn, deviations(drawn, target.values));
  add_confidence(confidence(drawn, parts, {{Spread{}}}, target.accuracy.error), target);
}

void Changes::add(double probability, const Target& target) {
  add_spread(target);
  if (!(probability > 0)) return;
  const PlannedSample all = all_ranks(target);
  const Parts parts = parts_of(all, deviations(all, target.values));
  add_confidence(confidence(probability, parts, {{Spread{}}}, target.accuracy.error), target);
}

void Changes::add_spread(const Target& target) {
  if (origin_.sample.population.empty()) return;
  const std::vector<double> away = deviations(origin_.sample, target.values);
  const Spread now = parts_of(origin_.sample, away).all;
  double odd = 0;  // of the rank whose deviation has grown most
  for (std::size_t r = 0; r < away.size(); ++r) {
    const double grown = std::fabs(away[r]) - std::fabs(origin_.known[r]);
    if (grown > std::fabs(odd)) odd = std::copysign(grown, away[r]);
  }
  seen_.push_back({std::max(0.0, now.variance - origin_.spread.variance), odd / static_cast<double>(away.size())});
  if (seen_.size() > memory_) seen_.pop_front();
}

/// The most that a goal exceeds the promise by: a tenth of what the promise leaves out is still left out.
double Changes::margin(const Target& target) { return 0.9 * (1 - target.accuracy.confidence); }

void Changes::add_confidence(double reached, const Target& target) {
  // Without a limit, samples would stay large for long after a time in which no sample was good.
  constexpr double most = 4;  // times what the goal can show
  missed_ = std::clamp(missed_ + target.accuracy.confidence - reached, 0.0, most * margin(target) / step);
}

/// The confidence that the next samples should have.
double Changes::goal(const Target& target) const {
  return target.accuracy.confidence + std::min(step * missed_, margin(target));
}

/// The changes to allow for: those seen, and none.
std::vector<Changes::Spread> Changes::expected() const {
  std::vector<Spread> out(seen_.begin(), seen_.end());
  out.push_back({});
  return out;
}

void Changes::allow_for(PlannedSample& sample, const Target& target) const {
  const Parts now = parts_of(sample, deviations(sample, target.values));
  const std::vector<Spread> changes = expected();
  double added = 0;  // to the variance of each part, for the shares of the parts
  for (const Spread& c : changes)
    added += (c.variance + c.odd * c.odd * now.ranks) / static_cast<double>(changes.size());
  const double odd = now.all.odd * now.ranks, odd_members = now.population[now.odd_part];
  const auto deviation = [&](std::size_t h) {
    return std::sqrt(now.variance[h] + added + (h == now.odd_part ? odd * odd / odd_members : 0));
  };
  double largest = 0;
  for (std::size_t h = 0; h < sample.size.size(); ++h) largest = std::max(largest, deviation(h));
  if (!(largest > 0)) return;  // nothing varies
  const std::vector<std::int64_t> least = sample.size;
  const double wanted = goal(target);
  smallest(1 / (now.ranks * largest), [&](double factor) {
    for (std::size_t h = 0; h < sample.size.size(); ++h) {
      const double share = std::ceil(factor * now.population[h] * deviation(h));
      sample.size[h] =
          static_cast<std::int64_t>(std::min(now.population[h], std::max(static_cast<double>(least[h]), share)));
    }
    return sample.total() >= static_cast<std::int64_t>(now.ranks) ||
           confidence(sample, now, changes, target.accuracy.error) >= wanted;
  });
}

double Changes::allow_for(double probability, const Target& target) const {
  const PlannedSample all = all_ranks(target);
  const Parts now = parts_of(all, deviations(all, target.values));
  const std::vector<Spread> changes = expected();
  const double wanted = goal(target);
  double p = 0;
  smallest(std::max(probability, 1 / now.ranks), [&](double tried) {
    p = std::min(1.0, tried);
    return p >= 1 || confidence(p, now, changes, target.accuracy.error) >= wanted;
  });
  return p;
}

}  // namespace effort::sampling
