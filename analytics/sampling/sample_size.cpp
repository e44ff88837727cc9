#include "analytics/sampling/sample_size.hpp"

#include "analytics/number_text.hpp"

#include "analytics/sampling/allocation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <string>

namespace effort::sampling {
namespace {

void check_confidence(double confidence) {
  if (!(confidence > 0 && confidence < 1))
    throw std::invalid_argument("confidence is " + number_text(confidence) + ": it must be above 0 and below 1");
}

void check_not_negative(double value, const char* what) {
  if (!(value >= 0) || std::isinf(value))
    throw std::invalid_argument(std::string(what) + " is " + number_text(value) +
                                ": it must be a number and not negative");
}

void check_accuracy(const Accuracy& accuracy) {
  check_confidence(accuracy.confidence);
  if (!(accuracy.error > 0) || std::isinf(accuracy.error))
    throw std::invalid_argument("error is " + number_text(accuracy.error) + ": it must be above 0");
}

// Rounds up, unless only a rounding error exceeds the integer below.
std::int64_t whole_objects(double size, std::int64_t population) {
  const double up = std::ceil(size * (1 - 1e-12));
  return up >= static_cast<double>(population) ? population : std::max<std::int64_t>(1, static_cast<std::int64_t>(up));
}

}  // namespace

double normal_quantile(double confidence) {
  check_confidence(confidence);
  // Newton's method from 0: erf is concave there, so every iterate stays below the root.  In the tail erfc is more
  // precise.
  const bool tail = confidence > 0.5;
  double z = 0;
  for (int step = 0; step < 200; ++step) {
    const double half = z / std::numbers::sqrt2;
    const double missing = tail ? std::erfc(half) - (1 - confidence) : confidence - std::erf(half);
    const double slope = std::sqrt(2 / std::numbers::pi) * std::exp(-half * half);
    const double next = z + missing / slope;
    if (!(next > z)) break;
    z = next;
  }
  return z;
}

std::int64_t sample_size(std::int64_t population, double deviation, double bound, double confidence) {
  if (population < 1) throw std::invalid_argument("the population is empty: there must be at least one object");
  check_not_negative(deviation, "the deviation");
  check_not_negative(bound, "the error bound");
  const double z = normal_quantile(confidence);
  if (deviation == 0) return 1;
  const double n = static_cast<double>(population), ratio = bound / (z * deviation);
  return whole_objects(n / (1 + n * ratio * ratio), population);
}

namespace {

// Moments of one metric over all strata.
struct Whole {
  double mean = 0;
  double variance = 0;
};

Whole whole_of(std::span<const std::int64_t> sizes, std::span<const double> mean, std::span<const double> variance,
               std::size_t d, std::size_t metric) {
  double n = 0, sum = 0;
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    const auto size = static_cast<double>(sizes[s]);
    n += size;
    if (sizes[s] > 0) sum += size * mean[s * d + metric];
  }
  Whole whole;
  whole.mean = sum / n;
  double squares = 0;
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    if (sizes[s] == 0) continue;
    const auto size = static_cast<double>(sizes[s]);
    const double away = mean[s * d + metric] - whole.mean;
    squares += (size - 1) * variance[s * d + metric] + size * away * away;
  }
  whole.variance = n > 1 ? squares / (n - 1) : 0;
  return whole;
}

void check_moments(std::span<const std::int64_t> sizes, std::span<const double> mean, std::span<const double> variance,
                   std::size_t d) {
  if (sizes.empty() || d == 0) throw std::invalid_argument("there are no strata or no metrics: pass at least one");
  if (mean.size() != sizes.size() * d || variance.size() != sizes.size() * d)
    throw std::invalid_argument("means and variances must have one entry per stratum and metric");
  std::int64_t n = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw std::invalid_argument("a stratum has a negative size: sizes are counts");
    n += size;
  }
  if (n == 0) throw std::invalid_argument("there are no ranks to sample: at least one stratum must have members");
  for (std::size_t i = 0; i < mean.size(); ++i) {
    if (!std::isfinite(mean[i]))
      throw std::invalid_argument("a stratum's mean is not finite (stratum " + std::to_string(i / d) + ", metric " +
                                  std::to_string(i % d) + ")");
    check_not_negative(variance[i], "a variance");
  }
}

void choose_cheapest(SamplePlan& plan) {
  plan.stratified = plan.unified;
  plan.cheapest = Design::unified;
  plan.allocation = {plan.unified};
  if (plan.neyman < plan.stratified) {
    plan.stratified = plan.neyman;
    plan.cheapest = Design::neyman;
    plan.allocation = plan.neyman_allocation;
  }
  if (plan.per_stratum_total < plan.stratified) {
    plan.stratified = plan.per_stratum_total;
    plan.cheapest = Design::per_stratum;
    plan.allocation = plan.per_stratum;
  }
}

}  // namespace

SamplePlan plan_samples(std::span<const std::int64_t> sizes, std::span<const double> mean,
                        std::span<const double> variance, std::size_t d, const PlanParameters& parameters) {
  check_moments(sizes, mean, variance, d);
  check_accuracy(parameters.accuracy);
  if (parameters.floor < 1) throw std::invalid_argument("the floor is below 1: sample at least one rank per stratum");
  const auto [confidence, error] = parameters.accuracy;
  const double z = normal_quantile(confidence);
  const std::int64_t n = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  SamplePlan plan;
  plan.unified = 1;
  Allocation allocation(sizes, parameters.floor);
  for (std::size_t metric = 0; metric < d; ++metric) {
    const Whole whole = whole_of(sizes, mean, variance, d, metric);
    if (whole.mean == 0) continue;
    const double bound = error * std::abs(whole.mean);
    plan.unified = std::max(plan.unified, sample_size(n, std::sqrt(whole.variance), bound, confidence));
    allocation.add_metric(variance.subspan(metric), d, (bound / z) * (bound / z));
  }
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    std::int64_t size = std::min(parameters.floor, sizes[s]);
    for (std::size_t metric = 0; metric < d && sizes[s] > 0; ++metric) {
      const double own = mean[s * d + metric];
      if (own == 0) continue;
      size =
          std::max(size, sample_size(sizes[s], std::sqrt(variance[s * d + metric]), error * std::abs(own), confidence));
    }
    plan.per_stratum.push_back(size);
    plan.per_stratum_total += size;
  }
  plan.neyman_allocation = allocation.solve();
  plan.neyman = std::accumulate(plan.neyman_allocation.begin(), plan.neyman_allocation.end(), std::int64_t{0});
  choose_cheapest(plan);
  return plan;
}

namespace {

void check_table(std::span<const double> values, std::size_t n, std::size_t d, std::span<const std::int32_t> labels,
                 int k) {
  if (n == 0 || d == 0) throw std::invalid_argument("there are no ranks or no metrics: pass at least one");
  if (values.size() != n * d) throw std::invalid_argument("the number of values is not n x d: pass a whole table");
  if (k < 1) throw std::invalid_argument("k is " + std::to_string(k) + ": there must be at least one stratum");
  if (!labels.empty() && labels.size() != n)
    throw std::invalid_argument("there must be one label for each of the " + std::to_string(n) + " ranks, or none");
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] < no_stratum || labels[i] >= k)
      throw std::invalid_argument("label of rank " + std::to_string(i) + " is " + std::to_string(labels[i]) +
                                  ": labels are 0 to " + std::to_string(k - 1));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw std::invalid_argument("value is not finite (row " + std::to_string(i / d) + ", column " +
                                  std::to_string(i % d) + "): measure again or leave the rank out");
}

}  // namespace

SamplePlan plan_samples(std::span<const double> values, std::size_t n, std::size_t d,
                        std::span<const std::int32_t> labels, int k, const PlanParameters& parameters) {
  check_table(values, n, d, labels, k);
  const std::size_t strata = labels.empty() ? 1 : static_cast<std::size_t>(k);
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  // Sizes are relative to the mean, so a common power of two against overflow does not change them.
  const int exponent = largest > 0 ? -std::ilogb(largest) : 0;
  const double factor = std::ldexp(1.0, std::clamp(exponent, -1000, 1000));
  std::vector<std::int64_t> sizes(strata, 0);
  std::vector<double> mean(strata * d, 0.0), variance(strata * d, 0.0);
  const auto counts = [&](std::size_t i) { return labels.empty() || labels[i] != no_stratum; };
  const auto stratum = [&](std::size_t i) { return labels.empty() ? 0 : static_cast<std::size_t>(labels[i]); };
  for (std::size_t i = 0; i < n; ++i) {
    if (!counts(i)) continue;
    ++sizes[stratum(i)];
    double* sum = mean.data() + stratum(i) * d;
    for (std::size_t j = 0; j < d; ++j) sum[j] += values[i * d + j] * factor;
  }
  for (std::size_t s = 0; s < strata; ++s)
    for (std::size_t j = 0; j < d && sizes[s] > 0; ++j) mean[s * d + j] /= static_cast<double>(sizes[s]);
  for (std::size_t i = 0; i < n; ++i) {
    if (!counts(i)) continue;
    const std::size_t at = stratum(i) * d;
    for (std::size_t j = 0; j < d; ++j) {
      const double away = values[i * d + j] * factor - mean[at + j];
      variance[at + j] += away * away;
    }
  }
  for (std::size_t s = 0; s < strata; ++s)
    for (std::size_t j = 0; j < d; ++j)
      variance[s * d + j] /= static_cast<double>(std::max<std::int64_t>(1, sizes[s] - 1));
  return plan_samples(sizes, mean, variance, d, parameters);
}

}  // namespace effort::sampling
