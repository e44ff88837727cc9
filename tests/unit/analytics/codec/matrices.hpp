// Matrices like those of real runs for the tests of the codec.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace effort::test {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The same numbers on every machine (the standard distributions are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double normal() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum - 6;
  }

 private:
  std::mt19937_64 engine_;
};

inline const std::vector<std::string>& kinds() {
  static const std::vector<std::string> names{"groups", "front", "spikes", "checkpoint", "noise", "ramp"};
  return names;
}

/// rows x cols effort values of one kind.
inline std::vector<double> matrix(const std::string& kind, std::size_t rows, std::size_t cols, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<double> values(rows * cols);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) {
      const double x = static_cast<double>(i) / static_cast<double>(rows),
                   t = static_cast<double>(j) / static_cast<double>(cols);
      double v = 1;
      if (kind == "groups") v = (1 + static_cast<double>(i * 5 / rows * 7 % 5) * 0.3) * (1 + 0.01 * random.normal());
      if (kind == "front")
        v = (1 + 1.5 * std::exp(-0.5 * std::pow((x - 0.1 - 0.8 * t) / 0.06, 2))) * (1 + 0.005 * random.normal());
      if (kind == "spikes") v = 1 + 0.02 * random.normal() + (random.uniform() < 2e-3 ? 30 * random.uniform() : 0);
      if (kind == "checkpoint") v = 1 + 0.01 * random.normal() + (j % 40 == 39 ? 5 + x : 0);
      if (kind == "noise") v = std::exp(0.5 * random.normal());
      if (kind == "ramp") v = -3 + 10 * x + 4 * t * t;
      values[i * cols + j] = v;
    }
  return values;
}

/// Root mean square difference over the range (or over the magnitude, of constant values).
inline double nrmse(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0, low = HUGE_VAL, high = -HUGE_VAL;
  for (const double v : a) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  const double unit = high > low ? high - low : std::abs(high) > 0 ? std::abs(high) : 1;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow((a[i] - b[i]) / unit, 2);
  return a.empty() ? 0 : std::sqrt(sum / static_cast<double>(a.size()));
}

inline double largest_error(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace effort::test
