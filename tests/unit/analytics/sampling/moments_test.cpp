// Mean and variance by part, in one pass.
#include "analytics/sampling/moments.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <limits>
#include <random>
#include <stdexcept>

#include "analytics/sampling/sample_size.hpp"

using namespace effort::sampling;
using Catch::Matchers::WithinRel;

namespace {

/// In two passes, in long double.
std::pair<double, double> expected(const std::vector<double>& values, const std::vector<std::int32_t>& part,
                                   std::int32_t of) {
  long double sum = 0, squares = 0, n = 0;
  for (std::size_t r = 0; r < values.size(); ++r)
    if (part[r] == of) {
      sum += values[r];
      n += 1;
    }
  const long double mean = sum / n;
  for (std::size_t r = 0; r < values.size(); ++r)
    if (part[r] == of) squares += (values[r] - mean) * (values[r] - mean);
  return {static_cast<double>(mean), n > 1 ? static_cast<double>(squares / (n - 1)) : 0};
}

}  // namespace

TEST_CASE("moments of parts are exact even if means are large, or the first value stands out") {
  for (const double offset : {0.0, 1.0, 1e6}) {
    std::mt19937 random(7);
    std::normal_distribution<double> noise(offset, 0.1);
    std::vector<double> values;
    std::vector<std::int32_t> part;
    for (int r = 0; r < 3000; ++r) {
      values.push_back(noise(random));
      part.push_back(r % 7 == 0 ? no_stratum : r % 3);
    }
    values[1] += 1000;  // the first of its part
    const Moments m = moments_of(values, part, 4);
    double total = 0;
    for (std::int32_t h = 0; h < 3; ++h) {
      const auto [mean, variance] = expected(values, part, h);
      CHECK_THAT(m.mean[static_cast<std::size_t>(h)],
                 WithinRel(mean, 1e-12) || Catch::Matchers::WithinAbs(mean, 1e-12));
      CHECK_THAT(m.variance[static_cast<std::size_t>(h)], WithinRel(variance, 1e-8));
      total += mean * static_cast<double>(m.size[static_cast<std::size_t>(h)]);
    }
    CHECK(m.size[3] == 0);
    CHECK(m.variance[3] == 0);
    CHECK_THAT(m.total(), WithinRel(total, 1e-10));
  }
}

TEST_CASE("values whose squares overflow or vanish are multiplied") {
  const std::vector<double> usual{1, 2, 3, 6};
  const std::vector<std::int32_t> apart{0, 1, 2, 2};
  for (const double unit : {1e200, 1e300, 1e-170, 1e-300}) {
    std::vector<double> odd;
    for (const double value : usual) odd.push_back(value * unit);
    for (const auto& part : {std::vector<std::int32_t>{}, apart}) {
      const Moments s = moments_of(usual, part, 3), l = moments_of(odd, part, 3);
      CHECK(l.factor != 1);
      for (std::size_t h = 0; h < 3; ++h) {
        CHECK_THAT(l.mean[h], WithinRel(s.mean[h] * unit * l.factor, 1e-12));
        CHECK_THAT(l.variance[h] / (l.mean_of_all() * l.mean_of_all()),
                   WithinRel(s.variance[h] / (s.mean_of_all() * s.mean_of_all()), 1e-9));
      }
    }
  }
  CHECK(moments_of(usual, {}, 1).mean_of_all() == 3);
  CHECK(moments_of(usual, {}, 1).factor == 1);
}

TEST_CASE("wrong values and parts are refused") {
  const std::vector<double> values{1, std::numeric_limits<double>::quiet_NaN()};
  CHECK_THROWS_AS(moments_of(values, {}, 1), std::invalid_argument);
  CHECK_THROWS_AS(moments_of(std::vector<double>{1, std::numeric_limits<double>::infinity()}, {}, 1),
                  std::invalid_argument);
  CHECK_THROWS_AS(moments_of(std::vector<double>{1, 2}, std::vector<std::int32_t>{0, 1}, 1), std::invalid_argument);
  CHECK_THROWS_AS(moments_of(std::vector<double>{1, 2}, std::vector<std::int32_t>{0, -2}, 1), std::invalid_argument);
  CHECK(moments_of({}, {}, 1).mean_of_all() == 0);
}
