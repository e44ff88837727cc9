// Where every object stands among the medoids: the state that swaps are judged by.
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

  /// Looks at all columns again.  O(rows k).
  /// @param bound  with k = 1, where there is no second nearest: any distance above all others, which cancels
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
