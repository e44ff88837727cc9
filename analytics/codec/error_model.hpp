// How the error of a matrix grows with the quantisation step.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace effort::codec {

/// How the squared error grows with the step, from a histogram of the weighted magnitudes.
class ErrorModel {
 public:
  void clear() {
    count_.fill(0);
    square_.fill(0);
  }
  /// @param weight  how many values this one stands for
  void add(double magnitude, std::uint32_t weight) {
    const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(magnitude) >> 48) - kFirst;
    const auto i = static_cast<std::size_t>(std::clamp<std::int64_t>(bits, 0, kBins - 1));
    count_[i] += weight;
    square_[i] += magnitude * magnitude * weight;
  }
  /// To be called between the last add() and the questions.
  void sum_up() {
    double square = 0;
    for (std::size_t i = 0; i < kBins; ++i) {
      const double here = square_[i];
      square_[i] = square;
      square += here;
    }
    all_ = square;
    std::uint64_t count = 0;
    for (std::size_t i = kBins; i-- > 0;) above_[i] = count += count_[i];
  }
  double squared_error(double step) const {
    // Of the bin that the step is in, the share below it counts as zeros, as if its values were spread evenly.
    const std::int64_t bin = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(step) >> 48) - kFirst;
    if (bin + 1 >= kBins) return all_;
    const auto i = static_cast<std::size_t>(std::max<std::int64_t>(bin, 0));
    const double part = bin < 0 ? 0 : std::clamp((step - edge(i)) / (edge(i + 1) - edge(i)), 0.0, 1.0);
    const double zeros = square_[i] + part * (square_[i + 1] - square_[i]), others = count_from(step);
    return zeros + others * step * step / 12;
  }
  /// About how many values are at least a step.
  double count_from(double step) const {
    const std::int64_t bin = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(step) >> 48) - kFirst;
    if (bin + 1 >= kBins) return 0;
    const auto i = static_cast<std::size_t>(std::max<std::int64_t>(bin, 0));
    const double part = bin < 0 ? 0 : std::clamp((step - edge(i)) / (edge(i + 1) - edge(i)), 0.0, 1.0);
    return static_cast<double>(above_[i + 1]) + (1 - part) * static_cast<double>(above_[i] - above_[i + 1]);
  }

  /// What was added, as whole numbers whose sums over several models do not depend on the order; before sum_up().
  std::vector<std::int64_t> counts() const {
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < kBins; ++i) {
      numbers.push_back(count_[i]);
      numbers.push_back(static_cast<std::int64_t>(std::min(square_[i] / (edge(i) * edge(i)) * 65536, 9e15)));
    }
    return numbers;
  }
  void set_counts(const std::vector<std::int64_t>& numbers) {
    for (std::size_t i = 0; i < kBins; ++i) {
      count_[i] = static_cast<std::uint32_t>(numbers[2 * i]);
      square_[i] = static_cast<double>(numbers[2 * i + 1]) / 65536 * (edge(i) * edge(i));
    }
  }

  /// The step at which the error is `wanted`.
  double step_for(double wanted) const {
    double low = -250, high = 250;
    for (int k = 0; k < 40; ++k) {
      const double middle = (low + high) / 2;
      (squared_error(std::exp2(middle)) <= wanted ? low : high) = middle;
    }
    return std::exp2(low);
  }

 private:
  static double edge(std::size_t bin) { return std::bit_cast<double>((bin + kFirst) << 48); }

  static constexpr std::int64_t kFirst = (1023 - 80) * 16;
  static constexpr std::int64_t kBins = 160 * 16;
  std::array<std::uint32_t, kBins> count_{};
  std::array<double, kBins> square_{};  ///< after sum_up(): of all bins below
  std::array<std::uint64_t, kBins> above_{};
  double all_ = 0;
};

}  // namespace effort::codec
