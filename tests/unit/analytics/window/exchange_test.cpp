#include "analytics/window/exchange.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>

using effort::window::ExactSum;

TEST_CASE("bounds and values of any size give sums within the bound") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const double bound : {5e-324, 1e-300, 1.0, 1e100, 1e270, 1e300, 1.7e308, infinity, nan, 0.0, -1.0}) {
    const ExactSum sum(bound);
    for (const double value : {0.0, 5e-324, 1.0, 1e270, 1e300, 1.7e308, infinity, nan}) {
      INFO(bound << " " << value);
      // At most 2^60 + 1, so that several do not overflow.
      CHECK(std::abs(sum.rounded(value)) <= (std::int64_t{1} << 60) + 1);
      CHECK(std::abs(sum.rounded(-value)) <= (std::int64_t{1} << 60) + 1);
    }
  }
}

TEST_CASE("sums are as precise for large bounds as for small ones") {
  for (const double unit : {1e-200, 1.0, 1e100, 1e250}) {
    ExactSum sum(4 * unit);
    const std::size_t at = sum.reserve(1);
    sum.add_to(at, unit);
    sum.add_to(at, 2 * unit);
    CHECK(std::abs(sum[at] / unit - 3) < 1e-15);
  }
}
