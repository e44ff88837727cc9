// Every object to its nearest medoid, for several sets of medoids in one read of the data.
#pragma once

#include "analytics/cluster/clustering.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/workers.hpp"

#include <cstdint>
#include <vector>

namespace effort::cluster {

/// A sum of distances as an integer, high * 2^bits + low, in units that all nodes agree on: exact, so that the order
/// and the grouping of the objects do not matter.
struct FixedSum {
  std::int64_t high = 0, low = 0;
};

/// How distances become integers: those up to 2^limit_exponent count in units of 2^(limit_exponent - 2 bits).
struct FixedUnit {
  int limit_exponent = 0;
  int bits = 42;

  /// Bits per word such that n distances cannot overflow a sum.
  static int bits_for(std::int64_t n);
  /// Moves what low can spare into high, so that sums compare by (high, low).
  FixedSum normalised(FixedSum sum) const;
  double value(FixedSum sum) const;
};

/// Several sets of k medoids out of one table.
struct MedoidSets {
  Signatures points;                          ///< the distinct medoids
  std::size_t k = 0;
  std::vector<std::vector<std::int32_t>> sets;  ///< [trials][k] rows of `points`
};

/// Sets of medoids of which it is enough to know how little they can cost: their distances are made of products in single
/// precision, at a fraction of the time, with a bound of what that may be off.
class ScreenedSets {
 public:
  ScreenedSets() = default;
  /// @param largest  exponent of the distances that are usual: of magnitude 2^largest
  ScreenedSets(MedoidSets sets, int largest);

  std::size_t trials() const { return sets_.sets.size(); }
  const MedoidSets& sets() const { return sets_; }
  const std::vector<double>& centre() const { return centre_; }
  const std::vector<float>& points() const { return points_; }
  double factor() const { return factor_; }
  kernels::PointLengths lengths() const { return {squared_.data(), longest_, error_}; }

 private:
  MedoidSets sets_;
  std::vector<double> centre_;  // [d] mean of the points: products lose less near it
  std::vector<float> points_;   // [points][d] differences from it
  std::vector<float> squared_;  // [points] their squared lengths
  float longest_ = 0, error_ = 0;
  double factor_ = 1;
};

struct Assignment {
  std::vector<std::uint16_t> labels;      ///< [trials][n] slot of the nearest medoid, the first of equals
  std::vector<FixedSum> cost;             ///< [trials]
  std::vector<std::int64_t> sizes;        ///< [trials][k]
  std::vector<std::int64_t> at_least;     ///< [screened trials] the cost is at least this, in units of FixedSum::high
  std::uint64_t largest_bits = 0;         ///< bit pattern of the largest magnitude among the values
  double largest_distance = 0;            ///< of an object to its nearest medoid, over all trials
};

/// One read of the objects.  Costs are only good when largest_distance is within the unit's limit and all values are
/// finite: the caller looks at largest_bits, which costs less here than a read of its own.  n may be 0.
/// @param screened  further sets, of which only at_least is found; `medoids` and these are applied in the same read
Assignment assign(const Workers& workers, const Signatures& objects, const MedoidSets& medoids, FixedUnit unit,
                  const ScreenedSets& screened = {});

}  // namespace effort::cluster
