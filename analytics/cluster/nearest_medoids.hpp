// Each object's distances to the nearest two medoids: the state from which swaps are evaluated.
#pragma once

#include "analytics/cluster/kernels.hpp"

#include <cstddef>
#include <vector>

namespace effort::cluster {

/// Nearest and second nearest medoid of every row, from the rows' distances to all medoids.
class NearestMedoids {
 public:
  NearestMedoids(const Kernels& kernels, std::size_t rows, std::size_t k);

  /// Distances of all rows to the medoid of a slot, to be filled before update().
  double* column(std::size_t slot) { return to_medoid_.data() + slot * rows_; }

  /// Recomputes the state from all columns.  O(rows k).
  /// @param bound  with k = 1 there is no second nearest medoid: any distance above all others; it cancels out
  void update(double bound = 0);

  std::size_t k() const { return k_; }
  double cost() const { return cost_; }  ///< sum of distances to the nearest medoid
  const Standing& standing() const { return standing_; }

 private:
  const Kernels& kernels_;
  std::size_t rows_, k_;
  std::vector<double> to_medoid_;  // [k][rows]
  Standing standing_;
  double cost_ = 0;
};

}  // namespace effort::cluster
