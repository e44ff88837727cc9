// Where every object stands among the medoids: the state that swaps are judged by.
#pragma once

#include "analytics/cluster/kernels.hpp"

#include <cstdint>
#include <vector>

namespace effort::cluster {

/// Where every row stands.
struct Standing {
  std::vector<std::int32_t> nearest;  ///< [rows] slot of the nearest medoid
  std::vector<std::int32_t> order;    ///< [rows] the rows, those of one medoid after the other
  std::vector<double> first, second;  ///< [rows] distances to the nearest and the second nearest

  /// A row stands as it did.
  bool same(const Standing& other, std::size_t row) const {
    return nearest[row] == other.nearest[row] && first[row] == other.first[row] && second[row] == other.second[row];
  }
};

/// Nearest and second nearest medoid of every row, from the rows' distances to all medoids.
class NearestMedoids {
 public:
  NearestMedoids(std::size_t rows, std::size_t k);

  /// Distances of all rows to the medoid of a slot, to be filled before update().
  double* column(std::size_t slot) { return to_medoid_.data() + slot * rows_; }

  /// Looks at all columns again.  O(rows k).
  /// @param bound  with k = 1, where there is no second nearest: any distance above all others, which cancels
  void update(double bound = 0);

  std::size_t k() const { return k_; }
  double cost() const { return cost_; }                      ///< sum of distances to the nearest medoid
  double second_cost() const { return second_cost_; }        ///< sum of distances to the second nearest
  const std::vector<double>& loss() const { return loss_; }  ///< [k] what removing a medoid would cost
  const Standing& standing() const { return standing_; }
  template <typename T>
  kernels::SwapRowsOf<T> swap_rows(const T* distances, std::size_t stride) const {
    return {distances,
            stride,
            rows_,
            standing_.order.data(),
            standing_.nearest.data(),
            standing_.first.data(),
            standing_.second.data()};
  }

 private:
  std::size_t rows_, k_;
  std::vector<double> to_medoid_;  // [k][rows]
  Standing standing_;
  std::vector<double> loss_;
  double cost_ = 0, second_cost_ = 0;
};

}  // namespace effort::cluster
