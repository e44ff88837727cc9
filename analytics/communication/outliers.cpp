#include "analytics/communication/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace effort::communication {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

std::vector<double> modified_z_scores(std::span<const double> values) {
  const double center = median({values.begin(), values.end()});
  std::vector<double> deviations(values.size());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += deviations[i] = std::abs(values[i] - center);
  const double mad = median(deviations);
  const double unit = mad > 0 ? mad / 0.6745 : 1.253314 * sum / static_cast<double>(values.size());
  std::vector<double> scores(values.size());
  for (std::size_t i = 0; i < values.size() && unit > 0; ++i) scores[i] = (values[i] - center) / unit;
  return scores;
}

}  // namespace effort::communication
