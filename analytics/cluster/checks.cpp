#include "analytics/cluster/clustering.hpp"
#include "analytics/cluster/range.hpp"
#include "analytics/simd/widest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace effort::cluster {

std::string bad_value_message(std::int64_t row, std::size_t column, double value) {
  return std::string("signature value is ") + (std::isnan(value) ? "not a number" : "infinite") + " (row " +
         std::to_string(row) + ", column " + std::to_string(column) + "): measure again or leave the object out";
}

void check_shape(const Signatures& signatures) {
  const auto [values, n, d] = signatures;
  if (n == 0) throw std::invalid_argument("there are no objects to cluster (n is 0): pass at least one row");
  if (d == 0) throw std::invalid_argument("objects have no values (d is 0): pass at least one column");
  if (n > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw std::invalid_argument("too many objects (" + std::to_string(n) + "): at most 2147483647 are possible");
  if (values.size() / d != n || values.size() % d != 0)
    throw std::invalid_argument("the number of values (" + std::to_string(values.size()) + ") is not n x d (" +
                                std::to_string(n) + " x " + std::to_string(d) + "): pass a whole row-major table");
}

void check_signatures(const Signatures& signatures) {
  check_shape(signatures);
  if (const auto bad = find_bad_value(signatures); bad.row >= 0)
    throw std::invalid_argument(bad_value_message(bad.row, bad.column, bad.value));
}

void check_k(std::int64_t k, std::int64_t n) {
  if (k < 1) throw std::invalid_argument("too few strata (k is " + std::to_string(k) + "): k must be at least 1");
  if (k > n)
    throw std::invalid_argument("more strata than objects (k is " + std::to_string(k) + ", n is " + std::to_string(n) +
                                "): k must be at most n");
}

std::uint64_t largest_bits(std::span<const double> values) {
  return simd::widest([data = values.data(), n = values.size()] {
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t bits = std::bit_cast<std::uint64_t>(data[i]) & 0x7fffffffffffffff;
      most = bits > most ? bits : most;
    }
    return most;
  });
}

BadValue find_bad_value(const Signatures& signatures) {
  constexpr std::uint64_t infinite = 0x7ff0000000000000;
  for (std::size_t i = 0; i < signatures.n; ++i) {
    if (largest_bits({signatures.row(i), signatures.d}) < infinite) continue;
    for (std::size_t j = 0; j < signatures.d; ++j)
      if (const double value = signatures.row(i)[j]; !std::isfinite(value))
        return {static_cast<std::int64_t>(i), j, value};
  }
  return {};
}

int range_exponent(std::uint64_t largest_bits) {
  constexpr int bias = 1023;
  const int exponent = static_cast<int>(largest_bits >> 52) - bias;
  if (largest_bits == 0) return 0;
  if (exponent > largest_safe_exponent) return largest_safe_exponent - exponent;
  if (exponent < smallest_safe_exponent) return -exponent;
  return 0;
}

int limit_of(std::uint64_t largest_bits, std::size_t d) {
  const double largest = std::bit_cast<double>(largest_bits);
  const int exponent = largest > 0 ? std::ilogb(largest) : -1074;
  return exponent + 2 +
         static_cast<int>(std::bit_width(static_cast<std::uint64_t>(d)));  // |x - y| < 2^(e + 2), and sqrt(d) <= d
}

InRange::InRange(const Signatures& signatures) : InRange(signatures, range_exponent(largest_bits(signatures.values))) {}

InRange::InRange(const Signatures& signatures, int exponent) : signatures_(signatures), exponent_(exponent) {
  if (exponent == 0) return;
  scaled_.reserve(signatures.values.size());
  constexpr int normal = 1000;  // a power of two of this size is exact, and multiplying by it is much faster than ldexp
  const double factor = std::ldexp(1.0, std::clamp(exponent, -normal, normal));
  for (double value : signatures.values) scaled_.push_back(value * factor);
  if (std::abs(exponent) > normal)
    for (double& value : scaled_) value = std::ldexp(value, exponent > 0 ? exponent - normal : exponent + normal);
  signatures_.values = scaled_;
}

double InRange::unscaled(double distance) const { return std::ldexp(distance, -exponent_); }

}  // namespace effort::cluster
