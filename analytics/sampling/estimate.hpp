// Totals of all ranks from those of a sample, with confidence intervals.
//
//   Draw draw({900, 100}, units);                   // who was drawn, and from which strata
//   const Estimate calls = draw.total(values);      // [units] what each of them did
//   calls.total, calls.half_width(0.90)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::sampling {

/// The t of Student's distribution with P(|T| < t) = confidence.
/// @param degrees  of freedom, above 0; need not be whole
/// @throws std::invalid_argument
double student_quantile(double confidence, double degrees);

/// A sampled rank.
struct Unit {
  std::int32_t stratum = 0;
  double probability = 0;  ///< of being drawn, above 0
};

/// An estimated total.  Estimates from independent draws may be added.
struct Estimate {
  double total = 0;
  double variance = 0;  ///< of the total, over all samples that could have been drawn; below 0 unknown
  double scatter = 0;   ///< sum over strata of (their part of the variance)^2 / degrees of freedom

  /// The population's total is within this distance of `total` with the given probability, as far as the estimate is
  /// normally distributed.  Student's t with the effective degrees of freedom of Cochran 1977, (5.16).  Below 0:
  /// unknown.
  double half_width(double confidence) const;

  Estimate& operator+=(const Estimate& other);
};

/// Ranks that were drawn together from strata.  The estimator of a stratum's total is its size times the mean of its
/// sample, weighted by the inverse probabilities (Hajek; with equal ones Cochran 1977, section 5.3, and Gamblin 2009,
/// section 4.2.3); its variance has the finite population correction, so that a stratum that was drawn completely has
/// none.  A drawn rank whose trace is lost may be left out: the others then represent it.
class Draw {
 public:
  /// @param population  [strata] ranks in each
  /// @param units  the drawn ranks
  /// @throws std::invalid_argument for a stratum out of range or with more units than ranks, or a probability outside
  ///         (0, 1]
  Draw(std::vector<std::int64_t> population, std::vector<Unit> units);

  /// The total of all ranks.  Strata without units are given the mean of the others.  A stratum with a single unit has
  /// no variance of its own: such strata are collapsed (Cochran 1977, section 5A.12).  If there is only one, it is
  /// collapsed with the smallest other stratum; if there is no other, the variance is unknown.
  /// @param values  [units], in their order
  Estimate total(std::span<const double> values) const;

  /// Adjusts the values of parts, such as the call paths of a region, to the known total of all parts over all ranks.
  /// Afterwards, total() of a part is the combined ratio estimate (Cochran 1977, section 6.11) with its variance, and
  /// the totals of all parts add up to `known`.  The variance of a single part is 0, except for rounding errors.
  /// @param known  at least 0
  /// @param parts  [parts][units], changed in place
  /// @return false if all values are 0, which leaves them unchanged
  bool calibrate(double known, std::span<const std::span<double>> parts) const;

  /// Ranks of all strata, and of those with units.
  std::int64_t population() const { return population_size_; }
  std::int64_t covered() const { return covered_; }

 private:
  struct Stratum {
    double size = 0;
    std::vector<std::size_t> units;
  };
  /// Adds the variance of strata that are treated as one.
  void add_variance(std::span<const double> values, double size, std::span<const std::size_t> units,
                    Estimate& estimate) const;
  void add_collapsed(std::span<const double> values, Estimate& estimate) const;
  double mean(std::span<const double> values, std::span<const std::size_t> units) const;

  std::vector<Unit> units_;
  std::vector<Stratum> strata_;     ///< those with units
  std::vector<std::size_t> alone_;  ///< strata with a single unit and several ranks
  std::size_t companion_ = 0;       ///< stratum that the only such one is collapsed with
  std::int64_t population_size_ = 0, covered_ = 0;
};

}  // namespace effort::sampling
