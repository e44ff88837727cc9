#include "analytics/codec/quantiser.hpp"

#include "analytics/simd/lanes.hpp"
#include "analytics/simd/widest.hpp"

#include <array>

namespace effort::codec {
namespace {

using simd::Lanes;

/// Reconstructs a row of coefficients as the decoder will; Integer is wide enough for the largest one in steps.
template <typename Integer>
inline void requantise(const double* in, std::size_t n, double scale, double unit, double first, double others,
                       double* out) {
  simd::for_each(n, [&](std::size_t j) {
    const auto q = static_cast<Integer>(std::fabs(in[j]) * scale);
    const double point = q == 1 ? first : others, exists = q != 0 ? 1.0 : 0.0;
    out[j] = std::copysign((static_cast<double>(q) + point) * unit * exists, in[j]);
  });
}
void requantise_narrow(const double* in, std::size_t n, double scale, double unit, double first, double others,
                       double* out) {
  simd::widest([=] { requantise<std::int32_t>(in, n, scale, unit, first, others, out); });
}

/// The same without branches, because the processor predicts zeros badly.
void requantise_short(const double* in, std::size_t n, double scale, double unit, double first, double others,
                      double* out) {
  const std::array<double, 2> points{others, first};
  for (std::size_t j = 0; j < n; ++j) {
    const auto q = static_cast<std::int32_t>(std::fabs(in[j]) * scale);
    out[j] = std::copysign((static_cast<double>(q) + points[q == 1]) * unit * static_cast<double>(q != 0), in[j]);
  }
}

void quantise_narrow(const double* in, std::size_t n, double scale, std::uint32_t* magnitude, std::uint8_t* negative) {
  simd::widest([=] {
    simd::for_each(n, [&](std::size_t j) {
      magnitude[j] = static_cast<std::uint32_t>(static_cast<std::int32_t>(std::abs(in[j]) * scale));
    });
    simd::for_each(n, [&](std::size_t j) { negative[j] = in[j] < 0; });
  });
}

RowSize size_of_row(const double* row, std::size_t n) {
  return simd::widest([=] {
    Lanes c, largest{}, squares{};
    const auto add = [&]() __attribute__((always_inline)) {
      simd::raise_to_magnitudes(largest, c);
      squares += c * c;
    };
    std::size_t j = 0;
    for (; j + simd::lanes <= n; j += simd::lanes) {
      simd::load(c, row + j);
      add();
    }
    simd::load_some(c, row + j, n - j);
    add();
    return RowSize{simd::largest_of(largest), simd::sum_of(squares)};
  });
}

RowSize size_of_short_row(const double* row, std::size_t n) {
  RowSize size;
  for (std::size_t j = 0; j < n; ++j) {
    size.largest = std::max(size.largest, std::abs(row[j]));
    size.squares += row[j] * row[j];
  }
  return size;
}

unsigned nearest_point(double fraction) {
  return static_cast<unsigned>(std::clamp(std::lround((fraction - 0.1) / 0.04), 0L, 15L));
}

}  // namespace

void requantise_row(const double* in, std::size_t n, double gain, double step, const Points& points, bool narrow,
                    double* out) {
  const double scale = gain / step, unit = step / gain;
  if (narrow && n < simd::wide_from) {
    requantise_short(in, n, scale, unit, points.first(), points.others(), out);
  } else if (narrow) {
    requantise_narrow(in, n, scale, unit, points.first(), points.others(), out);
  } else {
    requantise<std::int64_t>(in, n, scale, unit, points.first(), points.others(), out);
  }
}

void quantise_row(const double* in, std::size_t n, double scale, std::uint32_t* magnitude, std::uint8_t* negative) {
  quantise_narrow(in, n, scale, magnitude, negative);
}

void quantise_row(const double* in, std::size_t n, double scale, std::uint64_t* magnitude, std::uint8_t* negative) {
  for (std::size_t j = 0; j < n; ++j) magnitude[j] = static_cast<std::uint64_t>(std::abs(in[j]) * scale);
  for (std::size_t j = 0; j < n; ++j) negative[j] = in[j] < 0;
}

double largest_in(const double* row, std::size_t n) { return size_of(row, n).largest; }

RowSize size_of(const double* row, std::size_t n) {
  return n < simd::wide_from ? size_of_short_row(row, n) : size_of_row(row, n);
}

void PlaceSums::add_row(const double* row, std::size_t n, double scale, double weight) {
  // Without branches, because the processor predicts these values badly.
  std::size_t some = 0, more = 0;  // of one step or of more, of two or more
  double some_sum = 0, more_sum = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double c = std::min(std::abs(row[j]) * scale, 1e9);
    const double place = c - static_cast<double>(static_cast<std::int32_t>(c));
    const bool is_some = c >= 1, is_more = c >= 2;
    some += is_some;
    more += is_more;
    some_sum += static_cast<double>(is_some) * place;
    more_sum += static_cast<double>(is_more) * place;
  }
  count[0] += static_cast<double>(some - more) * weight;
  count[1] += static_cast<double>(more) * weight;
  sum[0] += (some_sum - more_sum) * weight;
  sum[1] += more_sum * weight;
}

Points PlaceSums::points() const {
  Points points;
  for (std::size_t k = 0; k < 2; ++k) points.code |= nearest_point(count[k] > 0 ? sum[k] / count[k] : 0.5) << (4 * k);
  return points;
}

}  // namespace effort::codec
