#include "analytics/cluster/nearest_medoids.hpp"

#include <algorithm>
#include <limits>

namespace effort::cluster {

NearestMedoids::NearestMedoids(const Kernels& kernels, std::size_t rows, std::size_t k)
    : kernels_(kernels), rows_(rows), k_(k), to_medoid_(k * rows) {
  standing_.nearest.resize(rows);
  standing_.order.resize(rows);
  standing_.first.resize(rows);
  standing_.second.resize(rows);
  standing_.loss.resize(k);
}

void NearestMedoids::update(double bound) {
  std::vector<std::size_t> start(k_ + 1, 0);
  std::fill(standing_.loss.begin(), standing_.loss.end(), 0.0);
  cost_ = 0;
  kernels_.two_nearest(to_medoid_, k_ == 1 ? bound : std::numeric_limits<double>::max(), standing_);
  for (std::size_t j = 0; j < rows_; ++j) {
    const auto nearest = static_cast<std::size_t>(standing_.nearest[j]);
    standing_.loss[nearest] += standing_.second[j] - standing_.first[j];
    cost_ += standing_.first[j];
    ++start[nearest + 1];
  }
  for (std::size_t slot = 0; slot < k_; ++slot) start[slot + 1] += start[slot];
  for (std::size_t j = 0; j < rows_; ++j)
    standing_.order[start[static_cast<std::size_t>(standing_.nearest[j])]++] = static_cast<std::int32_t>(j);
}

}  // namespace effort::cluster
