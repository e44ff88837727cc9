// A matrix prepared for coding, and parts of the stream that codes it.
#pragma once

#include "analytics/codec/bytes.hpp"
#include "analytics/codec/codec.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::codec {

/// The low bits of a tile's kind byte.
enum class StreamKind : unsigned { context = 0, ezw = 1, constant = 2, raw = 3, tiled = 4, empty = 5 };

inline constexpr unsigned version_byte = 0xE1;  ///< first byte of every stream of version 1
inline constexpr unsigned absent_flag = 16;     ///< in a tile's kind byte
inline constexpr unsigned plain_flag = 32;      ///< likewise: coded without mixing
inline constexpr unsigned cuts_flag = 128;      ///< in the byte of the number of planes
inline constexpr std::size_t cuts_from = 4096;  ///< bytes of payload from which a table of cuts is worthwhile
/// Most values of a tile.  Larger matrices are cut, which bounds the memory of a partial decoding.
inline constexpr std::size_t largest_tile = std::size_t{1} << 22;

/// Values ready for coding: finite, with absent ones filled in, and scaled by a power of two so that squares neither
/// overflow nor underflow.
struct Matrix {
  std::size_t rows = 0, cols = 0;
  std::span<const double> values;        ///< filled and scaled
  std::span<const std::uint8_t> absent;  ///< empty: none
  int exponent = 0;                      ///< value = scaled value * 2^exponent
  double min = 0, max = 0;               ///< of the present values, scaled
  std::size_t present = 0;
  std::vector<double> storage;  ///< memory of `values` if they are not the caller's

  /// The unit of RMS errors: the range, or for constant data the magnitude.
  double nrmse_unit() const;
};

/// Extremes of the present values.
struct Extremes {
  double low = HUGE_VAL, high = -HUGE_VAL;  ///< unscaled; low > high: none
  std::size_t present = 0;
};
/// Validates.  Errors as for encode().
Extremes look_over(std::span<const double> values, std::size_t rows, std::size_t cols,
                   std::span<const std::uint8_t> absent);

/// Prepares valid values, which may be part of a larger matrix with these extremes.
Matrix scaled(std::span<const double> values, std::size_t rows, std::size_t cols, std::span<const std::uint8_t> absent,
              const Extremes& seen);

/// Validates and prepares.  Errors as for encode().
Matrix prepare(std::span<const double> values, std::size_t rows, std::size_t cols,
               std::span<const std::uint8_t> absent);

struct Errors {
  double rms = 0, max = 0;  ///< scaled
};
/// Adds up the errors of a reconstruction over the present values, row by row.
class ErrorSum {
 public:
  explicit ErrorSum(const Matrix& matrix) : matrix_(matrix), squares_(matrix.rows) {}
  void add(std::size_t row, const double* reconstruction);
  Errors errors() const;

 private:
  const Matrix& matrix_;
  std::vector<double> squares_;  ///< by row, so that the order of the calls does not matter
  double worst_ = 0;
};
Errors measure(const Matrix& matrix, const double* reconstruction);

/// Appends run lengths of present and absent values (alternating, present first), with their byte count in front.
void put_absent(Bytes& out, std::span<const std::uint8_t> absent);
std::vector<std::uint8_t> take_absent(ByteReader& in, std::size_t n);

/// Writes the two checksum bytes (at offset 2) of a finished stream.
void seal(Bytes& stream);
void check_seal(const ByteSource& stream);

/// Reconstruction points for a stream decoded in part; its own points are for its last plane.
inline constexpr unsigned partial_points = 0xA8;

/// The position in its interval at which a value is reconstructed: 16 choices from 0.1 to 0.7, one for the lowest
/// interval (low four bits of the header's byte) and one for the others (high four).
constexpr double point_value(unsigned nibble) { return 0.1 + 0.04 * nibble; }

}  // namespace effort::codec
