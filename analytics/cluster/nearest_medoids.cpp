#include "analytics/cluster/nearest_medoids.hpp"

#include <algorithm>
#include <limits>

namespace effort::cluster {

NearestMedoids::NearestMedoids(std::size_t rows, std::size_t k)
    : rows_(rows), k_(k), to_medoid_(k * rows), loss_(k) {
  standing_.nearest.resize(rows);
  standing_.order.resize(rows);
  standing_.first.resize(rows);
  standing_.second.resize(rows);
}

void NearestMedoids::update(double bound) {
  std::vector<std::size_t> start(k_ + 1, 0);
  std::fill(loss_.begin(), loss_.end(), 0.0);
  cost_ = second_cost_ = 0;
  for (std::size_t j = 0; j < rows_; ++j) {
    double first = to_medoid_[j], second = k_ == 1 ? bound : std::numeric_limits<double>::max();
    std::int32_t nearest = 0;
    for (std::size_t slot = 1; slot < k_; ++slot) {
      const double value = to_medoid_[slot * rows_ + j];
      if (value < first) {
        second = first;
        first = value;
        nearest = static_cast<std::int32_t>(slot);
      } else if (value < second) {
        second = value;
      }
    }
    standing_.nearest[j] = nearest;
    standing_.first[j] = first;
    standing_.second[j] = second;
    loss_[static_cast<std::size_t>(nearest)] += second - first;
    cost_ += first;
    second_cost_ += second;
    ++start[static_cast<std::size_t>(nearest) + 1];
  }
  for (std::size_t slot = 0; slot < k_; ++slot) start[slot + 1] += start[slot];
  for (std::size_t j = 0; j < rows_; ++j)
    standing_.order[start[static_cast<std::size_t>(standing_.nearest[j])]++] = static_cast<std::int32_t>(j);
}

}  // namespace effort::cluster
