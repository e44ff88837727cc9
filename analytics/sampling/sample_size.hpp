// How many ranks to trace for a given error bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::sampling {

/// Accuracy of an estimated mean: with probability `confidence` its error is at most the bound.
struct Accuracy {
  double confidence = 0.90;  ///< above 0, below 1
  double error = 0.08;       ///< relative to the metric's mean, above 0
};

/// The two-sided normal quantile z with P(|Z| <= z) = confidence, to 1e-15 relative.
/// @throws std::invalid_argument unless 0 < confidence < 1
double normal_quantile(double confidence);

/// Smallest sample for a mean, without replacement (Gamblin 2009, equation 4.3).
/// @param population  N, at least 1
/// @param deviation   S, standard deviation of the population, not negative
/// @param bound       d, absolute error bound, not negative
/// @return 1..N, rounded up (1 when the deviation is 0)
/// @throws std::invalid_argument on values outside these ranges
std::int64_t sample_size(std::int64_t population, double deviation, double bound, double confidence);

/// How a sample is drawn.
enum class Design {
  unified,      ///< from all ranks with equal probability
  per_stratum,  ///< by stratum, for the mean of every stratum
  neyman,       ///< by stratum, in proportion to size x deviation, for the mean over all
};

struct SamplePlan {
  std::int64_t unified = 0;  ///< ranks needed without strata
  std::int64_t stratified =
      0;                    ///< fewest needed for the mean over all ranks, with or without strata: never above unified
  std::int64_t neyman = 0;  ///< ranks needed by Neyman allocation with the floor
  std::int64_t per_stratum_total = 0;           ///< ranks needed for the mean of every stratum
  std::vector<std::int64_t> per_stratum;        ///< [k] the parts of per_stratum_total
  std::vector<std::int64_t> neyman_allocation;  ///< [k] the parts of neyman
  Design cheapest = Design::unified;            ///< the design that `stratified` uses
  std::vector<std::int64_t> allocation;         ///< [k] ranks of each stratum in the cheapest design; [1] when unified
};

struct PlanParameters {
  Accuracy accuracy;
  std::int64_t floor = 2;  ///< least ranks per stratum (or all of it if it is smaller); at least 1
};

/// Label of a rank that is in no stratum.
inline constexpr std::int32_t no_stratum = -1;

/// Sample sizes for the mean of each of d metrics over n ranks, relative to the metric's mean; the largest counts
/// (Gamblin 2009, section 4.2; Cochran 1977, chapter 5 for Neyman allocation).  Metrics with mean 0 are left out.
///
/// @param values  [n][d] one value per rank and metric, finite
/// @param labels  [n] strata 0..k-1, or no_stratum, if the rank is left out; empty: one stratum
/// @throws std::invalid_argument on wrong lengths, NaN, infinity, or an accuracy outside its range
/// Time: O(n d).
SamplePlan plan_samples(std::span<const double> values, std::size_t n, std::size_t d,
                        std::span<const std::int32_t> labels, int k, const PlanParameters& parameters);

/// The same from statistics that nodes can combine: members per stratum, and mean and variance (divisor members - 1)
/// per stratum and metric.
/// @param sizes     [k] each at least 0
/// @param mean      [k][d]
/// @param variance  [k][d] not negative
SamplePlan plan_samples(std::span<const std::int64_t> sizes, std::span<const double> mean,
                        std::span<const double> variance, std::size_t d, const PlanParameters& parameters);

}  // namespace effort::sampling
