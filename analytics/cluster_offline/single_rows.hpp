// Objects in single precision.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace effort::cluster {

/// Rows relative to a centre, times a factor, rounded to single precision.
struct SingleRows {
  std::vector<float> values;  ///< [n][d]
  std::vector<double> norms;  ///< [n] lengths of the rows before they are rounded

  SingleRows(const Signatures& objects, const std::vector<double>& centre, double factor) {
    values.resize(objects.n * objects.d);
    norms.reserve(objects.n);
    std::vector<double> moved(objects.d);
    for (std::size_t i = 0; i < objects.n; ++i) {
      for (std::size_t j = 0; j < objects.d; ++j) moved[j] = (objects.row(i)[j] - centre[j]) * factor;
      for (std::size_t j = 0; j < objects.d; ++j) values[i * objects.d + j] = static_cast<float>(moved[j]);
      norms.push_back(norm(moved));
    }
  }

 private:
  static double norm(const std::vector<double>& values) {
    double sums[4] = {};  // independent sums hide the latency of an addition
    std::size_t j = 0;
    for (; j + 4 <= values.size(); j += 4)
      for (std::size_t l = 0; l < 4; ++l) sums[l] += values[j + l] * values[j + l];
    for (; j < values.size(); ++j) sums[0] += values[j] * values[j];
    return std::sqrt((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
};

}  // namespace effort::cluster
