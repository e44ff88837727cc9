// Mean and variance of a quantity in each part of a run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace effort::sampling {

struct Moments {
  std::vector<std::int64_t> size;      ///< [parts] ranks
  std::vector<double> mean, variance;  ///< [parts] with the divisor size - 1; zero where there is nothing to divide
  double factor = 1;                   ///< a power of two by which values were multiplied, or squares would overflow

  /// Of all parts together.
  double total() const;
  double mean_of_all() const;
};

/// One pass: sums of differences from the first value of each part (Chan, Golub & LeVeque 1983, section 2), so that
/// large means do not cancel.  Values so large or small that their squares would overflow or vanish are multiplied.
/// @param values  [n] finite
/// @param part  [n] 0..parts-1, or no_stratum for ranks that do not count; empty: all are in part 0
/// @throws std::invalid_argument if a value is not finite or a part does not exist
/// Time O(n).
Moments moments_of(std::span<const double> values, std::span<const std::int32_t> part, std::size_t parts);

}  // namespace effort::sampling
