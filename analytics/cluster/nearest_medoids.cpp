#include "analytics/cluster/nearest_medoids.hpp"

#include <algorithm>
#include <limits>

namespace effort::cluster {

NearestMedoids::NearestMedoids(std::size_t rows, std::size_t k) : rows_(rows), k_(k), to_medoid_(k * rows), loss_(k) {
  standing_.nearest.resize(rows);
  standing_.order.resize(rows);
  standing_.first.resize(rows);
  standing_.second.resize(rows);
}

void NearestMedoids::update(double bound) {
  std::vector<std::size_t> start(k_ + 1, 0);
  std::fill(loss_.begin(), loss_.end(), 0.0);
  cost_ = second_cost_ = 0;
  kernels::table().two_nearest(to_medoid_.data(), rows_, k_, k_ == 1 ? bound : std::numeric_limits<double>::max(),
                               standing_.first.data(), standing_.second.data(), standing_.nearest.data());
  for (std::size_t j = 0; j < rows_; ++j) {
    const auto nearest = static_cast<std::size_t>(standing_.nearest[j]);
    loss_[nearest] += standing_.second[j] - standing_.first[j];
    cost_ += standing_.first[j];
    second_cost_ += standing_.second[j];
    ++start[nearest + 1];
  }
  for (std::size_t slot = 0; slot < k_; ++slot) start[slot + 1] += start[slot];
  for (std::size_t j = 0; j < rows_; ++j)
    standing_.order[start[static_cast<std::size_t>(standing_.nearest[j])]++] = static_cast<std::int32_t>(j);
}

}  // namespace effort::cluster
