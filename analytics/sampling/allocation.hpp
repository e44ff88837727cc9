// The cheapest allocation of a sample to strata that keeps the error bounds of several metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::sampling {

/// Minimises the sum of n_h under this condition: for every metric, the variance of the stratified mean, the sum over h
/// of W_h^2 S_h^2 (1/n_h - 1/N_h), is at most the metric's limit.  For one metric that is Neyman allocation (Cochran
/// 1977, section 5.5), for several the method of Chromy (1987).
class Allocation {
 public:
  /// @param sizes  [k] N_h; @param floor  least n_h (or N_h if that is less)
  Allocation(std::span<const std::int64_t> sizes, std::int64_t floor);

  /// @param variance  S_h^2 at variance[h * stride]; @param limit  variance allowed for the mean, not negative
  void add_metric(std::span<const double> variance, std::size_t stride, double limit);

  /// [k] n_h, integers that keep all limits.
  std::vector<std::int64_t> solve() const;

 private:
  bool kept(std::span<const double> n) const;
  std::vector<double> relaxed() const;

  std::vector<double> sizes_;
  std::vector<double> least_;
  double total_ = 0;
  std::vector<double>
      terms_;  // [metrics][k] W^2 S^2 / (limit + sum of W^2 S^2 / N); the sum over h of terms / n_h is at most 1
  std::vector<double> slack_;  // [metrics] how far that may be exceeded by rounding
};

}  // namespace effort::sampling
