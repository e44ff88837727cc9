#include "analytics/codec/rare_values.hpp"

#include "analytics/simd/widest.hpp"

#include <array>
#include <cmath>

namespace effort::codec {
namespace {

constexpr std::size_t lanes = 8;  // independent sums, so that every vector width gives the same bits
using LaneSums = std::array<double, lanes>;

/// Number and positions in their intervals of the values of one step (or of more).
struct IntervalSums {
  LaneSums count{}, sum{}, squares{};
  /// The squared error, in steps, around the mean position.
  double error() const {
    double n = 0, s = 0, q = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
      n += count[l];
      s += sum[l];
      q += squares[l];
    }
    return n > 0 ? q - s * s / n : 0;
  }
};

double sum_errors(const double* values, std::size_t n, double step) {
  return simd::widest([=] {
    const double scale = 1 / step;
    LaneSums zeros{};
    IntervalSums ones, others;
    for (std::size_t j = 0; j < n; j += lanes)
      for (std::size_t l = 0; l < lanes; ++l) {
        const double c = values[j + l] * scale;
        const double whole = static_cast<double>(static_cast<int>(c < 1e9 ? c : 1e9)), place = c - whole;
        const double is_zero = c < 1 ? 1.0 : 0.0, is_one = c >= 1 && c < 2 ? 1.0 : 0.0,
                     is_other = c >= 2 && c < 1e9 ? 1.0 : 0.0;
        zeros[l] += is_zero * c * c;
        ones.count[l] += is_one;
        ones.sum[l] += is_one * place;
        ones.squares[l] += is_one * place * place;
        others.count[l] += is_other;
        others.sum[l] += is_other * place;
        others.squares[l] += is_other * place * place;
      }
    double sum = ones.error() + others.error();
    for (const double z : zeros) sum += z;
    return sum * step * step;
  });
}

}  // namespace

void RareValues::add_row(const double* row, std::size_t n, double gain) {
  for (std::size_t j = 0; j < n; ++j) {
    const double c = std::abs(row[j]) * gain;
    if (c >= floor_) {
      values_.push_back(c);
    } else {
      energy_ += c * c;
    }
  }
}

void RareValues::finish() { values_.resize((values_.size() + lanes - 1) / lanes * lanes); }

double RareValues::squared_error(double step) const {
  return energy_ + sum_errors(values_.data(), values_.size(), step);
}

}  // namespace effort::codec
