// Predicts the error of a matrix as a function of the quantisation step.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace effort::codec {

/// The squared error as a function of the step, from a histogram of the weighted magnitudes.
class ErrorModel {
 public:
  void clear() {
    for (std::size_t i = first_; i < end_; ++i) count_[i] = 0, square_[i] = 0;
    first_ = bin_count;
    end_ = 0;
  }
  /// @param weight  number of values that this one represents
  void add(double magnitude, std::uint32_t weight) {
    const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(magnitude) >> 48) - first_bits;
    const auto i = static_cast<std::size_t>(std::clamp<std::int64_t>(bits, 0, bin_count - 1));
    first_ = std::min(first_, i);
    end_ = std::max(end_, i + 1);
    count_[i] += weight;
    square_[i] += magnitude * magnitude * weight;
  }
  /// Call this after the last add() and before queries.
  void sum_up() {
    all_ = 0;
    for (std::size_t i = first_; i < end_; ++i) all_ += std::exchange(square_[i], all_);
    std::uint64_t count = 0;
    for (std::size_t i = end_; i-- > first_;) above_[i] = count += count_[i];
  }
  double squared_error(double step) const {
    // In the step's bin, the part below the step counts as zeros, assuming a uniform distribution within the bin.
    const Place at = place_of(step);
    if (at.bin >= end_) return all_;
    if (at.bin < first_) return count_from(step) * step * step / 12;
    const double next = at.bin + 1 < end_ ? square_[at.bin + 1] : all_;
    return square_[at.bin] + at.part * (next - square_[at.bin]) + count_from(step) * step * step / 12;
  }
  /// Approximate number of values of at least a step.
  double count_from(double step) const {
    const Place at = place_of(step);
    if (at.bin >= end_) return 0;
    if (at.bin < first_) return static_cast<double>(above_[first_]);
    const std::uint64_t next = at.bin + 1 < end_ ? above_[at.bin + 1] : 0;
    return static_cast<double>(next) + (1 - at.part) * static_cast<double>(above_[at.bin] - next);
  }

  /// The sums as integers, so that their total over several models does not depend on the order.  Call before sum_up().
  std::vector<std::int64_t> counts() const {
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < bin_count; ++i) {
      numbers.push_back(count_[i]);
      const double in_edges =
          square_[i] / (edge(i) * edge(i));  // NOLINT(clang-analyzer-core.DivideZero): edges are at least 2^-80
      numbers.push_back(static_cast<std::int64_t>(std::min(in_edges * 65536, 9e15)));
    }
    return numbers;
  }
  void set_counts(const std::vector<std::int64_t>& numbers) {
    first_ = 0;
    end_ = bin_count;
    for (std::size_t i = 0; i < bin_count; ++i) {
      count_[i] = static_cast<std::uint32_t>(numbers[2 * i]);
      square_[i] = static_cast<double>(numbers[2 * i + 1]) / 65536 * (edge(i) * edge(i));
    }
  }

  /// The step at which the squared error is `wanted`.
  double step_for(double wanted) const {
    double low = -250, high = 250;
    for (int k = 0; k < 40; ++k) {
      const double middle = (low + high) / 2;
      (squared_error(std::exp2(middle)) <= wanted ? low : high) = middle;
    }
    return std::exp2(low);
  }

 private:
  struct Place {
    std::size_t bin;
    double part;  ///< share of the bin that is below
  };
  static Place place_of(double step) {
    const std::int64_t bin = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(step) >> 48) - first_bits;
    if (bin < 0) return {0, 0};
    if (bin + 1 >= bin_count) return {bin_count, 0};
    const auto i = static_cast<std::size_t>(bin);
    return {i, std::clamp((step - edge(i)) / (edge(i + 1) - edge(i)), 0.0, 1.0)};
  }
  static double edge(std::size_t bin) { return std::bit_cast<double>((bin + first_bits) << 48); }

  static constexpr std::int64_t first_bits = (1023 - 80) * 16;
  static constexpr std::int64_t bin_count = 160 * 16;
  std::size_t first_ = bin_count, end_ = 0;  ///< bins outside are empty
  std::array<std::uint32_t, bin_count> count_{};
  std::array<double, bin_count> square_{};  ///< after sum_up(): of all bins below
  std::array<std::uint64_t, bin_count> above_{};
  double all_ = 0;
};

}  // namespace effort::codec
