// CLARA on one node.
#include "analytics/cluster/clara.hpp"
#include "analytics/cluster_offline/pam.hpp"
#include "analytics/cluster_offline/quality.hpp"
#include "measures.hpp"

#include "kinds.hpp"
#include "sets.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace effort::cluster;
using namespace effort::cluster::test;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

Clustering clara_of(std::span<const double> values, std::size_t d, const ClaraParameters& parameters) {
  return clara(Kokkos::Serial{}, {values, values.size() / d, d}, parameters);
}

ClaraParameters with_k(int k) {
  ClaraParameters parameters;
  parameters.k = k;
  return parameters;
}

}  // namespace

TEMPLATE_TEST_CASE("the result is a clustering near PAM's, and the same on every space", "", EFFORT_TEST_SPACES) {
  for (const std::size_t n : {65, 1000, 2500}) {
    const auto values = groups_of(n, 7, 4, 4, static_cast<int>(n));
    const auto parameters = with_k(4);
    const auto found = clara(TestType{}, {values, n, 7}, parameters);
    CAPTURE(n);
    REQUIRE(verify({values, n, 7}, found) == "");
    const auto serial = clara_of(values, 7, parameters);
    REQUIRE(found.medoids == serial.medoids);
    REQUIRE(found.labels == serial.labels);
    REQUIRE(found.cost == serial.cost);
    PamParameters exact;
    exact.k = 4;
    REQUIRE(found.cost < 1.1 * pam(TestType{}, {values, n, 7}, exact).cost);
  }
}

TEST_CASE("a sample of everything is PAM") {
  const auto values = groups_of(45, 3, 3, 3, 5);
  PamParameters exact;
  exact.k = 3;
  const auto all = pam(Kokkos::Serial{}, {values, 45, 3}, exact);
  const auto found = clara_of(values, 3, with_k(3));
  REQUIRE(found.medoids == all.medoids);
  REQUIRE(found.labels == all.labels);
  REQUIRE(found.cost == Approx(all.cost).epsilon(1e-14));
}

TEST_CASE("the seed chooses the samples, and more samples are not worse") {
  const auto values = groups_of(3000, 5, 6, 2, 8);
  auto parameters = with_k(5);
  double few = 0, many = 0;
  bool differ = false;
  std::vector<std::int32_t> last;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    parameters.seed = seed;
    parameters.samples = 2;
    const auto two = clara_of(values, 5, parameters);
    REQUIRE(two.medoids == clara_of(values, 5, parameters).medoids);
    differ = differ || (seed > 1 && two.medoids != last);
    last = two.medoids;
    parameters.samples = 6;  // the first two are the same
    const auto six = clara_of(values, 5, parameters);
    few += two.cost;
    many += six.cost;
  }
  REQUIRE(differ);
  REQUIRE(many < few);
}

TEST_CASE("searching all samples together finds better medoids than one sample") {
  const auto values = groups_of(4000, 8, 7, 2, 31);
  double several = 0, one = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto parameters = with_k(5);
    parameters.seed = seed;
    several += clara_of(values, 8, parameters).cost;
    parameters.samples = 1;
    one += clara_of(values, 8, parameters).cost;
  }
  REQUIRE(several < one);
}

TEST_CASE("coincident objects") {
  for (const int distinct : {1, 2, 3}) {
    std::vector<double> values;
    for (int i = 0; i < 500; ++i) values.insert(values.end(), {double(i % distinct), 2.0});
    const auto found = clara_of(values, 2, with_k(5));
    REQUIRE(found.k == 5);
    REQUIRE(found.cost == 0);
    REQUIRE(found.lone.empty());
    REQUIRE(*std::min_element(found.sizes.begin(), found.sizes.end()) >= 1);
    REQUIRE(verify({values, 500, 2}, found) == "");
  }
}

TEST_CASE("values whose squares overflow or underflow") {
  const auto values = groups_of(700, 5, 4, 3, 21);
  const auto expected = clara_of(values, 5, with_k(4));
  for (const int exponent : {531, 1000, -600, -1000}) {
    auto scaled = values;
    for (double& value : scaled) value = std::ldexp(value, exponent);
    const auto found = clara_of(scaled, 5, with_k(4));
    if (exponent != -1000) REQUIRE(found.medoids == expected.medoids);  // at this size, values lose bits
    REQUIRE(std::ldexp(found.cost, -exponent) == Approx(expected.cost).epsilon(1e-12));
  }
}

TEST_CASE("values outside of all samples may be far larger") {
  for (const double far : {1e3, 1e9, 1e30, 1e160, 1e300}) {
    for (const int at : {0, 1234, 4999}) {
      auto values = groups_of(5000, 4, 3, 4, 3);
      values[static_cast<std::size_t>(at) * 4 + 2] = far;
      const auto found = clara_of(values, 4, with_k(3));
      CAPTURE(far, at);
      REQUIRE(verify({values, 5000, 4}, found) == "");
    }
  }
  auto constant = std::vector<double>(5000, 0.0);  // the samples show no differences
  constant[4321] = 7;
  const auto found = clara_of(constant, 1, with_k(2));
  REQUIRE(verify({constant, 5000, 1}, found) == "");
  auto tiny = groups_of(5000, 1, 2, 0, 5);
  for (double& value : tiny) value *= 1e-200;
  tiny[2345] = 1e200;
  const auto extreme = clara_of(tiny, 1, with_k(2));  // compared with 1e200, differences of 1e-200 are zero
  REQUIRE((extreme.cost == 0 || extreme.cost == Approx(1e200 / 5000)));
}

TEST_CASE("a common shift changes nothing") {
  auto values = groups_of(2000, 6, 4, 3, 14);
  auto shifted = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    shifted[i] = values[i] + 0x1p24;
    values[i] = shifted[i] - 0x1p24;
  }
  const auto a = clara_of(values, 6, with_k(4)), b = clara_of(shifted, 6, with_k(4));
  REQUIRE(a.medoids == b.medoids);
  REQUIRE(a.labels == b.labels);
  REQUIRE(a.cost == b.cost);
}

TEST_CASE("bad input is refused with its place") {
  auto values = groups_of(1000, 4, 3, 2, 2);
  REQUIRE_THROWS_WITH(clara_of(values, 4, with_k(1001)), ContainsSubstring("more strata than objects"));
  REQUIRE_THROWS_AS(clara_of(values, 4, with_k(-1)), std::invalid_argument);
  auto parameters = with_k(5);
  parameters.samples = 0;
  REQUIRE_THROWS_AS(clara_of(values, 4, parameters), std::invalid_argument);
  parameters = with_k(5);
  parameters.sample_size = 4;
  REQUIRE_THROWS_AS(clara_of(values, 4, parameters), std::invalid_argument);
  REQUIRE_THROWS_AS(clara(Kokkos::Serial{}, {{}, 0, 4}, with_k(1)), std::invalid_argument);
  REQUIRE_THROWS_AS(clara(Kokkos::Serial{}, {{}, 4, 0}, with_k(1)), std::invalid_argument);
  for (const std::size_t row : {0, 500, 999}) {
    auto bad = values;
    bad[row * 4 + 3] = std::numeric_limits<double>::quiet_NaN();
    REQUIRE_THROWS_WITH(clara_of(bad, 4, with_k(3)),
                        ContainsSubstring("row " + std::to_string(row)) && ContainsSubstring("column 3"));
    bad[row * 4 + 3] = std::numeric_limits<double>::infinity();
    REQUIRE_THROWS_WITH(clara_of(bad, 4, with_k(3)), ContainsSubstring("infinite"));
  }
}

TEST_CASE("the chosen number of strata stays from window to window, and follows a clear change") {
  constexpr std::size_t n = 1200, d = 6;
  const auto window = [](int groups, int seed) {  // the same groups in every window, with different noise
    Uniform centre(5), noise(seed);
    std::vector<double> centres(8 * d), values;
    for (double& value : centres) value = 6 * centre();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < d; ++j) {
        const double a = noise(), b = noise(), c = noise();
        values.push_back(centres[i % static_cast<std::size_t>(groups) * d + j] + (a + b + c - 1.5));
      }
    return values;
  };
  ClaraParameters parameters;
  int changes = 0;
  for (int step = 0; step < 30; ++step) {
    parameters.seed = static_cast<std::uint64_t>(step);
    const auto found = clara_of(window(step < 20 ? 4 : 6, 100 + step), d, parameters);
    CAPTURE(step);
    REQUIRE(found.k == (step < 20 ? 4 : 6));
    changes += found.k != parameters.previous_k;
    parameters.previous_k = found.k;
  }
  REQUIRE(changes == 2);  // the first window and the twenty-first
}

TEST_CASE("stretched, heavy-tailed, doubled and very unequal sets of other seeds") {
  constexpr std::size_t n = 3000, d = 9;
  for (int seed = 1; seed <= 4; ++seed)
    for (int kind = 0; kind < 4; ++kind) {
      auto values = groups_of(n, d, 5, 4, 1000 + seed);
      Uniform uniform(seed);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < d; ++j) {
          double& value = values[i * d + j];
          if (kind == 0) value *= std::pow(10.0, static_cast<double>(j) - 4);  // columns of very different widths
          if (kind == 1 && uniform() < 0.01) value /= uniform() * uniform();   // some outliers
          if (kind == 2 && i >= n / 20) value = values[i % (n / 20) * d + j];  // twenty of each
          if (kind == 3) value = i < n - 10 ? value * 0.1 : value + 50;        // ten beside 2,990
        }
      for (const int k : {1, 4, 11}) {
        auto parameters = with_k(k);
        parameters.seed = static_cast<std::uint64_t>(seed);
        const auto found = clara_of(values, d, parameters);
        PamParameters exact;
        exact.k = k;
        CAPTURE(kind, seed, k);
        REQUIRE(verify({values, n, d}, found) == "");
        const double best = pam(Kokkos::Serial{}, {values, n, d}, exact).cost;
        if (kind == 0 || kind == 2) REQUIRE(found.cost < 1.15 * best);  // samples miss rare objects
        QualityParameters thorough;
        thorough.k = k;
        thorough.seed = parameters.seed;
        const auto refined = quality(Kokkos::Serial{}, {values, n, d}, thorough);
        REQUIRE(verify({values, n, d}, refined) == "");
        CHECK(refined.cost <= 1.01 * best);
      }
    }
}
