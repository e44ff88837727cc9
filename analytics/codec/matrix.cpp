#include "analytics/codec/matrix.hpp"

#include "analytics/simd/lanes.hpp"
#include "analytics/simd/widest.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace effort::codec {
namespace {

using simd::Lanes;

[[noreturn]] void refuse(const char* what, std::size_t i, std::size_t cols) {
  throw std::invalid_argument(std::string(what) + " in row " + std::to_string(i / cols) + ", column " +
                              std::to_string(i % cols) +
                              ": mark values that do not exist as absent, and correct the others");
}

void check_sizes(std::span<const double> values, std::size_t rows, std::size_t cols,
                 std::span<const std::uint8_t> absent) {
  const bool overflow = cols != 0 && rows > (std::size_t{1} << 48) / cols;
  if (overflow || values.size() != rows * cols)
    throw std::invalid_argument("the matrix holds " + std::to_string(values.size()) + " values, not " +
                                std::to_string(rows) + " x " + std::to_string(cols) + ": give rows * cols of them");
  if (!absent.empty() && absent.size() != values.size())
    throw std::invalid_argument("the absence mask holds " + std::to_string(absent.size()) + " entries, not " +
                                std::to_string(values.size()) + ": give one per value, or none");
}

struct RowError {
  double squares, worst;
};

RowError row_error(const double* a, const double* b, std::size_t n) {
  return simd::widest([=] {
    Lanes x, y, sums{}, worst{};
    const auto add = [&]() __attribute__((always_inline)) {
      x -= y;
      sums += x * x;
      simd::raise_to_magnitudes(worst, x);
    };
    std::size_t j = 0;
    for (; j + simd::lanes <= n; j += simd::lanes) {
      simd::load(x, a + j);
      simd::load(y, b + j);
      add();
    }
    simd::load_some(x, a + j, n - j);
    simd::load_some(y, b + j, n - j);
    add();
    return RowError{simd::sum_of(sums), simd::largest_of(worst)};
  });
}

RowError short_row_error(const double* a, const double* b, std::size_t n) {
  RowError error{0, 0};
  for (std::size_t j = 0; j < n; ++j) {
    const double e = a[j] - b[j];
    error.squares += e * e;
    error.worst = std::max(error.worst, std::abs(e));
  }
  return error;
}

struct RowExtremes {
  double low, high, not_finite;  ///< the last: NaN if any value is not finite, else 0
};

RowExtremes find_extremes(const double* values, std::size_t n) {
  return simd::widest([=] {
    Lanes v, highs = Lanes{} - HUGE_VAL, minus_lows = highs, sums{};
    const auto add = [&]() __attribute__((always_inline)) {
      simd::raise_to(highs, v);
      simd::raise_to(minus_lows, -v);
      sums += v - v;  // NOLINT(misc-redundant-expression): NaN if a value is not finite
    };
    std::size_t j = 0;
    for (; j + simd::lanes <= n; j += simd::lanes) {
      simd::load(v, values + j);
      add();
    }
    for (; j < n; ++j) {
      v = Lanes{} + values[j];
      add();
    }
    return RowExtremes{-simd::largest_of(minus_lows), simd::largest_of(highs), simd::sum_of(sums)};
  });
}

RowError present_error(const double* a, const double* b, const std::uint8_t* gone, std::size_t n) {
  RowError error{0, 0};
  for (std::size_t j = 0; j < n; ++j) {
    const double e = gone[j] ? 0 : std::abs(a[j] - b[j]);
    error.squares += e * e;
    error.worst = std::max(error.worst, e);
  }
  return error;
}

/// Fills an absent value with the one before it in its row (else the one after it, else the smallest value).  Smooth
/// rows cost little.
void fill_absent(std::vector<double>& values, std::size_t rows, std::size_t cols, std::span<const std::uint8_t> absent,
                 double otherwise) {
  for (std::size_t i = 0; i < rows; ++i) {
    double* row = values.data() + i * cols;
    const std::uint8_t* gone = absent.data() + i * cols;
    const auto first = static_cast<std::size_t>(std::find(gone, gone + cols, 0) - gone);
    double last = first < cols ? row[first] : otherwise;
    for (std::size_t j = 0; j < cols; ++j) {
      if (gone[j]) row[j] = last;
      last = row[j];
    }
  }
}

}  // namespace

double Matrix::nrmse_unit() const {
  const double range = max - min;
  if (range > 0) return range;
  return std::abs(max) > 0 ? std::abs(max) : 1;
}

Extremes look_over(std::span<const double> values, std::size_t rows, std::size_t cols,
                   std::span<const std::uint8_t> absent) {
  check_sizes(values, rows, cols, absent);
  Extremes seen;
  if (absent.empty()) {
    const RowExtremes row = find_extremes(values.data(), values.size());
    if (row.not_finite == 0) {
      seen.low = row.low;
      seen.high = row.high;
      seen.present = values.size();
      return seen;
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!absent.empty() && absent[i]) continue;
    const double v = values[i];
    if (!std::isfinite(v)) refuse(std::isnan(v) ? "NaN" : "infinity", i, cols);
    seen.low = std::min(seen.low, v);
    seen.high = std::max(seen.high, v);
    ++seen.present;
  }
  return seen;
}

Matrix prepare(std::span<const double> values, std::size_t rows, std::size_t cols,
               std::span<const std::uint8_t> absent) {
  return scaled(values, rows, cols, absent, look_over(values, rows, cols, absent));
}

Matrix scaled(std::span<const double> values, std::size_t rows, std::size_t cols, std::span<const std::uint8_t> absent,
              const Extremes& seen) {
  Matrix matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.absent = absent;
  matrix.values = values;
  matrix.present = seen.present;
  if (seen.low > seen.high) return matrix;
  const double largest = std::max(std::abs(seen.low), std::abs(seen.high));
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  if (std::abs(exponent) < 200) exponent = 0;
  matrix.exponent = exponent;
  matrix.min = std::ldexp(seen.low, -exponent);
  matrix.max = std::ldexp(seen.high, -exponent);
  if (exponent == 0 && absent.empty()) return matrix;
  matrix.storage.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    matrix.storage[i] = !absent.empty() && absent[i] ? 0 : std::ldexp(values[i], -exponent);
  if (!absent.empty()) fill_absent(matrix.storage, rows, cols, absent, matrix.min);
  matrix.values = matrix.storage;
  return matrix;
}

void ErrorSum::add(std::size_t row, const double* reconstruction) {
  const double* values = matrix_.values.data() + row * matrix_.cols;
  const std::uint8_t* gone = matrix_.absent.empty() ? nullptr : matrix_.absent.data() + row * matrix_.cols;
  const std::size_t n = matrix_.cols;
  const RowError error = gone                  ? present_error(values, reconstruction, gone, n)
                         : n < simd::wide_from ? short_row_error(values, reconstruction, n)
                                               : row_error(values, reconstruction, n);
  squares_[row] = error.squares;
  worst_ = std::max(worst_, error.worst);
}

Errors ErrorSum::errors() const {
  double total = 0;
  for (const double squares : squares_) total += squares;
  return {matrix_.present ? std::sqrt(total / static_cast<double>(matrix_.present)) : 0, worst_};
}

Errors measure(const Matrix& matrix, const double* reconstruction) {
  ErrorSum sum(matrix);
  for (std::size_t i = 0; i < matrix.rows; ++i) sum.add(i, reconstruction + i * matrix.cols);
  return sum.errors();
}

void put_absent(Bytes& out, std::span<const std::uint8_t> absent) {
  Bytes runs;
  std::size_t start = 0;
  for (bool gone = false; start < absent.size(); gone = !gone) {
    std::size_t end = start;
    while (end < absent.size() && (absent[end] != 0) == gone) ++end;
    put_varint(runs, end - start);
    start = end;
  }
  put_varint(out, runs.size());
  out.insert(out.end(), runs.begin(), runs.end());
}

std::vector<std::uint8_t> take_absent(ByteReader& in, std::size_t n) {
  const std::size_t size = in.varint(), start = in.offset();
  ByteReader runs(in.take(size));
  std::vector<std::uint8_t> absent;
  absent.reserve(n);
  for (bool gone = false; runs.offset() < size; gone = !gone) {
    const std::uint64_t run = runs.varint();
    if (run > n - absent.size()) throw CodecError("the absence mask is longer than the matrix", start);
    absent.insert(absent.end(), run, gone ? 1 : 0);
  }
  if (absent.size() != n) throw CodecError("the absence mask is shorter than the matrix", start);
  return absent;
}

namespace {

constexpr std::size_t checked_at_once = std::size_t{1} << 18;

unsigned checksum(const ByteSource& stream) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  const auto add = [&](std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) hash = (hash ^ std::to_integer<std::uint32_t>(b)) * 16777619u;
  };
  Bytes storage;
  add(stream.view(0, 2, storage));
  for (std::size_t at = 4; at < stream.size(); at += checked_at_once)
    add(stream.view(at, std::min(checked_at_once, stream.size() - at), storage));
  return (hash ^ (hash >> 16)) & 0xFFFFu;
}

}  // namespace

void seal(Bytes& stream) {
  const unsigned sum = checksum(MemorySource(stream));
  stream[2] = static_cast<std::byte>(sum & 255);
  stream[3] = static_cast<std::byte>(sum >> 8);
}

void check_seal(const ByteSource& stream) {
  ByteReader in(stream, 0, stream.size());
  in.skip(2);
  if (in.u16() != checksum(stream)) throw CodecError("the checksum does not match: bytes were changed or cut off", 2);
}

}  // namespace effort::codec
