// Assigning objects to their nearest medoids, for several sets of medoids in one pass over the data.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <cstdint>
#include <vector>

namespace effort::cluster {

/// A sum of distances as an integer, high * 2^bits + low, in units that all nodes agree on.  It is exact, so the order
/// and grouping of the objects do not matter.
struct FixedSum {
  std::int64_t high = 0, low = 0;
};

/// The unit in which distances become integers: 2^(limit_exponent - 2 bits), for distances up to 2^limit_exponent.
struct FixedUnit {
  int limit_exponent = 0;
  int bits = 42;

  /// Bits per word such that n distances cannot overflow a sum.
  static int bits_for(std::int64_t n);
  /// Carries from low to high, so that sums compare by (high, low).
  FixedSum normalised(FixedSum sum) const;
  double value(FixedSum sum) const;
};

/// Several sets of k medoids out of one table.
struct MedoidSets {
  Signatures points;  ///< the distinct medoids
  std::size_t k = 0;
  std::vector<std::vector<std::int32_t>> sets;  ///< [trials][k] rows of `points`
};

/// The result of Kernels::assign().  Costs are valid only if largest_distance is within the unit's limit and all values
/// are finite, which the caller checks with largest_bits: a separate pass over the data would cost more.
struct Assignment {
  std::vector<std::uint16_t> labels;  ///< [trials][n] slot of the nearest medoid; ties go to the first
  std::vector<FixedSum> cost;         ///< [trials]
  std::vector<std::int64_t> sizes;    ///< [trials][k]
  std::uint64_t largest_bits = 0;     ///< bit pattern of the largest magnitude among the values
  double largest_distance = 0;        ///< of an object to its nearest medoid, over all trials
};

}  // namespace effort::cluster
