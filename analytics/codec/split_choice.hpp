// How deep a band is best halved further along its smooth direction.
#pragma once

#include "analytics/codec/bands.hpp"

#include <cmath>
#include <vector>

namespace effort::codec {

/// About the bits that coefficients cost at a step: the sum of log2(1 + (c / step)^2) / 2.
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

/// The depth at which depths cost least: `low[k]` and `high[k]` are the costs of what k halvings leave as low band and
/// make of high band; low[0] is that of the band as it is.  A split must gain a little.
int cheapest_depth(const std::vector<double>& low, const std::vector<double>& high);

/// The norm of the basis functions of the band that is split.
double split_gain(const PacketSplit& split);

/// The depth at which a band of the matrix is cheapest at a quantisation step; of large bands a sample decides.
int best_split(const PacketSplit& split, const double* matrix, std::size_t stride, double step);

}  // namespace effort::codec
