// The error of a matrix with few large coefficients, for which a histogram is too coarse.
#pragma once

#include <cstddef>
#include <vector>

namespace effort::codec {

/// The weighted magnitudes at or above some floor, and the energy of the others.
class RareValues {
 public:
  /// Most values; for more, a histogram is as good.
  static constexpr std::size_t most = 1 << 14;

  void clear(double floor) {
    floor_ = floor;
    energy_ = 0;
    values_.clear();
  }
  /// Adds the magnitudes of one band, including those below the floor.
  void add_row(const double* row, std::size_t n, double gain);
  /// Adds the energy of values that are all below the floor.
  void add_small(double energy) { energy_ += energy; }
  void finish();

  /// The squared error of a quantisation by a step that is at least the floor.
  double squared_error(double step) const;
  double floor() const { return floor_; }

 private:
  double floor_ = 0;
  double energy_ = 0;           ///< of the values below the floor
  std::vector<double> values_;  ///< padded with zeros to a multiple of eight
};

}  // namespace effort::codec
