// Chooses how often a band is halved further along its smooth direction.
#pragma once

#include "analytics/codec/bands.hpp"

#include <cmath>
#include <vector>

namespace effort::codec {

/// Approximate bits of coefficients at a step: the sum of log2(1 + (c / step)^2) / 2.
class CostSum {
 public:
  explicit CostSum(double step) : scale_(1 / step) {}
  void add(double c) {
    const double x = c * scale_;
    product_ *= 1 + x * x;
    if (product_ > 1e200) {
      bits_ += std::log2(product_);
      product_ = 1;
    }
  }
  double bits() const { return (bits_ + std::log2(product_)) / 2; }

 private:
  double scale_, product_ = 1, bits_ = 0;
};

/// The cheapest depth.  `low[k]` and `high[k]` are the costs of the low band after k halvings and of the high band of
/// the k-th; low[0] is the cost of the band as it is.  A split must gain a little.
int cheapest_depth(const std::vector<double>& low, const std::vector<double>& high);

/// The norm of the basis functions of the band that is split.
double split_gain(const PacketSplit& split);

/// The depth at which a band of the matrix is cheapest at a quantisation step, estimated from a sample of large bands.
int best_split(const PacketSplit& split, const double* matrix, std::size_t stride, double step);

}  // namespace effort::codec
