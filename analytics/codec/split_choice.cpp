#include "analytics/codec/split_choice.hpp"

#include "analytics/codec/quantiser.hpp"

#include <algorithm>

#include "analytics/simd/widest.hpp"

namespace effort::codec {
namespace {

void raise_to(const double* row, std::size_t n, double* largest) {
  simd::widest([=] {
    simd::for_each(n, [&](std::size_t j) {
      const double c = std::abs(row[j]);
      largest[j] = c > largest[j] ? c : largest[j];
    });
  });
}

/// A split treats all lines along its direction alike, so a sample shows its gain: the strongest lines, which contain
/// the rare large values, and an even choice of the others, each of which represents several.
class SplitSample {
 public:
  SplitSample(const PacketSplit& split, const double* matrix, std::size_t stride) : sample_(split) {
    const std::size_t lines = split.along_rows ? split.cols : split.rows;
    std::vector<double> largest(lines);
    for (std::size_t i = 0; i < split.rows; ++i) {
      const double* row = matrix + (split.row0 + i) * stride + split.col0;
      if (split.along_rows) {
        raise_to(row, lines, largest.data());
      } else {
        largest[i] = largest_in(row, split.cols);
      }
    }
    largest_ = *std::max_element(largest.begin(), largest.end());
    choose_lines(largest);
    sample_.row0 = sample_.col0 = 0;
    (split.along_rows ? sample_.cols : sample_.rows) = lines_.size();
    values_.resize(sample_.rows * sample_.cols);
    for (std::size_t i = 0; i < sample_.rows; ++i) {
      const double* row = matrix + (split.row0 + (split.along_rows ? i : lines_[i])) * stride + split.col0;
      for (std::size_t j = 0; j < sample_.cols; ++j)
        values_[i * sample_.cols + j] = row[split.along_rows ? lines_[j] : j];
    }
  }

  double largest() const { return largest_; }

  /// The number of halvings at which the lines are cheapest at a step.
  int best_depth(double step) {
    const std::size_t length = sample_.along_rows ? sample_.rows : sample_.cols;
    std::vector<double> low{cost(0, length, step)}, high{0};
    for (int k = 0; k < sample_.deepest; ++k) {
      apply_split(wavelet::MatrixView(values_.data(), sample_.rows, sample_.cols), sample_, k, k + 1);
      const std::size_t whole = wavelet::low_length(length, k), half = wavelet::low_length(whole, 1);
      high.push_back(cost(half, whole, step));
      low.push_back(cost(0, half, step));
    }
    return cheapest_depth(low, high);
  }

 private:
  static constexpr std::size_t chosen = 128, strong = 48, even = chosen - strong;

  void choose_lines(const std::vector<double>& largest) {
    const std::size_t lines = largest.size();
    std::vector<std::size_t> order(lines);
    for (std::size_t k = 0; k < lines; ++k) order[k] = k;
    if (lines <= chosen) {
      lines_ = order;
      strong_ = lines;
      return;
    }
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(strong);
    std::nth_element(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
      return largest[a] != largest[b] ? largest[a] > largest[b] : a < b;
    });
    strong_ = strong;
    std::sort(order.begin(), middle);
    std::sort(middle, order.end());
    lines_.assign(order.begin(), middle);
    const std::size_t rest = lines - strong;
    for (std::size_t k = 0; k < even; ++k) lines_.push_back(order[strong + k * rest / even]);
    weight_ = static_cast<double>(rest) / static_cast<double>(even);
  }

  /// Of the positions [begin, end) of all lines.
  double cost(std::size_t begin, std::size_t end, double step) const {
    CostSum strong(step), even(step);
    const auto add = [&](std::size_t line, double c) { (line < strong_ ? strong : even).add(c); };
    for (std::size_t k = begin; k < end && sample_.along_rows; ++k)
      for (std::size_t line = 0; line < lines_.size(); ++line) add(line, values_[k * sample_.cols + line]);
    for (std::size_t line = 0; line < lines_.size() && !sample_.along_rows; ++line)
      for (std::size_t k = begin; k < end; ++k) add(line, values_[line * sample_.cols + k]);
    return strong.bits() + weight_ * even.bits();
  }

  PacketSplit sample_;
  std::vector<std::size_t> lines_;  ///< the strong ones first
  std::size_t strong_ = 0;
  double weight_ = 1, largest_ = 0;
  std::vector<double> values_;
};

}  // namespace

int cheapest_depth(const std::vector<double>& low, const std::vector<double>& high) {
  double best = low[0] * 0.98 - 2, done = 0;
  int depth = 0;
  for (std::size_t k = 1; k < low.size(); ++k) {
    done += high[k];
    if (done + low[k] >= best) continue;
    best = done + low[k];
    depth = static_cast<int>(k);
  }
  return depth;
}

double split_gain(const PacketSplit& split) {
  return wavelet::synthesis_norm(split.row_level, !split.along_rows) *
         wavelet::synthesis_norm(split.col_level, split.along_rows);
}

int best_split(const PacketSplit& split, const double* matrix, std::size_t stride, double step) {
  if (split.deepest == 0 || split.rows == 0 || split.cols == 0) return 0;
  const double gain = split_gain(split);
  SplitSample sample(split, matrix, stride);
  return sample.largest() * gain >= step / 4 ? sample.best_depth(step / gain) : 0;
}

}  // namespace effort::codec
