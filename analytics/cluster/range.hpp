// Scales very large and very small values by a power of two, so that their squares are normal numbers.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::cluster {

/// The bit pattern of the largest magnitude; 0x7ff0000000000000 or more if a value is infinite or not a number.
std::uint64_t largest_bits(std::span<const double> values);

struct BadValue {
  std::int64_t row = -1;  ///< -1: there is none
  std::size_t column = 0;
  double value = 0;
};

/// The first NaN or infinity.
BadValue find_bad_value(const Signatures& signatures);
std::string bad_value_message(std::int64_t row, std::size_t column, double value);

/// check_signatures() without checking every value.
void check_shape(const Signatures& signatures);

/// Tables whose largest magnitude has an exponent within these bounds are clustered as they are: sums of squares of up
/// to 2^31 of them stay finite, and differences of 2^-52 of the largest still have normal squares.
inline constexpr int largest_safe_exponent = 490;
inline constexpr int smallest_safe_exponent = -400;

/// The exponent e for which values x 2^e are safe; 0 for most data.
/// @param largest_bits  the bit pattern of the largest magnitude, finite
int range_exponent(std::uint64_t largest_bits);

/// An exponent e such that no two rows of d values of at most that magnitude are farther apart than 2^e.
int limit_of(std::uint64_t largest_bits, std::size_t d);

/// The given table if its values are safe, else a scaled copy.
class InRange {
 public:
  /// Scales by the table's own largest magnitude.
  explicit InRange(const Signatures& signatures);
  InRange(const Signatures& signatures, int exponent);
  InRange(const InRange&) = delete;
  InRange& operator=(const InRange&) = delete;

  const Signatures& signatures() const { return signatures_; }
  double unscaled(double distance) const;

 private:
  Signatures signatures_;
  std::vector<double> scaled_;
  int exponent_;
};

}  // namespace effort::cluster
