// Quantisation and reconstruction of coefficients.
#pragma once

#include "analytics/codec/bands.hpp"
#include "analytics/codec/matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace effort::codec {

/// A quantisation step that a stream can state: (1 + mantissa / 256) 2^exponent.
struct QuantisationStep {
  int exponent = 0;
  unsigned mantissa = 0;

  static QuantisationStep at_most(double value) {
    QuantisationStep step;
    const double fraction = std::frexp(value, &step.exponent) * 2;
    --step.exponent;
    step.mantissa = static_cast<unsigned>((fraction - 1) * 256);
    return step;
  }
  double value() const { return std::ldexp(1 + mantissa / 256.0, exponent); }
};

/// Positions in the interval at which values of one and of several steps are reconstructed.
struct Points {
  unsigned code = 0;
  double first() const { return point_value(code & 15); }
  double others() const { return point_value(code >> 4); }
};

/// A step and its trial.
struct Trial {
  QuantisationStep step;
  Points points;
  Errors errors;
};

/// Whether magnitudes in steps fit into 32 bits.
inline bool is_narrow(double largest, double step) { return largest < step * 2147483000.0; }

/// Reconstructs `n` coefficients of a band of this gain as the decoder will.  narrow: see is_narrow().
void requantise_row(const double* in, std::size_t n, double gain, double step, const Points& points, bool narrow,
                    double* out);

/// Magnitudes in steps, and signs; scale: gain / step.
void quantise_row(const double* in, std::size_t n, double scale, std::uint32_t* magnitude, std::uint8_t* negative);
void quantise_row(const double* in, std::size_t n, double scale, std::uint64_t* magnitude, std::uint8_t* negative);

/// The largest magnitude.
double largest_in(const double* row, std::size_t n);

/// The largest magnitude, and the sum of the squares.
struct RowSize {
  double largest = 0, squares = 0;
};
RowSize size_of(const double* row, std::size_t n);

/// Distance between the rows of a large band that are sampled for estimates.
inline std::size_t sampling(const Band& band) {
  return std::clamp<std::size_t>(band.rows * band.cols / 8192, 1, std::max<std::size_t>(1, band.rows / 16));
}

/// Numbers of values of one step and of several steps, and the sums of their positions in their intervals.
struct PlaceSums {
  std::array<double, 2> count{}, sum{};
  /// @param scale  gain / step; @param weight  number of values that each represents
  void add_row(const double* row, std::size_t n, double scale, double weight);
  Points points() const;
};

}  // namespace effort::codec
