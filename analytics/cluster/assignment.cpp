#include "analytics/cluster/assignment.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace effort::cluster {

int FixedUnit::bits_for(std::int64_t n) {
  const auto log2_n = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
  return std::min(42, 61 - log2_n);
}

FixedSum FixedUnit::normalised(FixedSum sum) const {
  const std::int64_t carry = sum.low >> bits;  // rounds down, which leaves low non-negative
  return {sum.high + carry, sum.low - (carry << bits)};
}

double FixedUnit::value(FixedSum sum) const {
  sum = normalised(sum);
  return std::ldexp(static_cast<double>(sum.high), limit_exponent - bits) +
         std::ldexp(static_cast<double>(sum.low), limit_exponent - 2 * bits);
}

}  // namespace effort::cluster
