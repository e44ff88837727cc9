// How many strata: as many as are separated, one where nothing is.
#include "analytics/cluster/choose_k.hpp"
#include "analytics/cluster/clara.hpp"
#include "analytics/cluster/dip.hpp"

#include "sets.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>

using namespace effort::cluster;
using namespace effort::cluster::test;
using Catch::Approx;

namespace {

ChosenK choose(std::span<const double> values, std::size_t d, int previous = 0) {
  ChooseKParameters parameters;
  parameters.previous_k = previous;
  return choose_k(Kokkos::Serial{}, {values, values.size() / d, d}, parameters);
}

// k centres on a simplex-like arrangement, far apart compared with the noise.
std::vector<double> separated_groups(std::size_t n, std::size_t d, int k, double noise, int seed) {
  Uniform uniform(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < d; ++j) {
      const int group = static_cast<int>(i) % k;
      const double centre = static_cast<int>(j) == group % static_cast<int>(d) ? 1.0 + group / static_cast<int>(d) : 0.0;
      values.push_back(centre + noise * (uniform() + uniform() + uniform() - 1.5));
    }
  return values;
}

}  // namespace

TEST_CASE("separated groups are counted") {
  for (int k = 2; k <= 10; ++k)
    for (const std::size_t d : {2, 5, 12, 40})
      for (int seed = 1; seed <= 3; ++seed) {
        CAPTURE(k, d, seed);
        REQUIRE(choose(separated_groups(200, d, k, 0.1, seed), d).k == k);
      }
}

TEST_CASE("one cloud and a gradient are one stratum") {
  int wrong = 0, cases = 0;
  for (int seed = 1; seed <= 25; ++seed)
    for (const std::size_t d : {1, 2, 5, 30}) {
      ++cases;
      wrong += choose(groups_of(150, d, 1, 0, seed * 7), d).k != 1;
    }
  for (int seed = 1; seed <= 25; ++seed) {
    Uniform uniform(seed);
    std::vector<double> values;
    for (int i = 0; i < 128; ++i) values.insert(values.end(), {uniform(), 0.5});
    ++cases;
    wrong += choose(values, 2).k != 1;
  }
  std::vector<double> regular;
  for (int i = 0; i < 100; ++i) regular.push_back(1 + 0.01 * i);
  REQUIRE(choose(regular, 1).k == 1);
  REQUIRE(choose(std::vector<double>(300, 4.0), 3).k == 1);
  REQUIRE(wrong * 50 <= cases);
}

TEST_CASE("a few ranks") {
  REQUIRE(choose(std::vector<double>{1}, 1).k == 1);
  REQUIRE(choose(std::vector<double>{1, 2}, 1).k == 1);
  REQUIRE(choose(std::vector<double>{1, 1, 1, 2}, 1).k == 2);
  REQUIRE(choose(std::vector<double>{1, 1.01, 0.99, 1.005, 2, 2.01, 1.99, 2.005}, 1).k == 2);
  REQUIRE(choose(std::vector<double>{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7}, 1).k == 1);
  REQUIRE(choose(std::vector<double>{1, 1, 3, 3, 7, 7}, 1).k == 3);
}

TEST_CASE("one far object is a stratum of its own") {
  auto values = groups_of(100, 3, 1, 0, 3);
  values[3 * 41] += 100;
  REQUIRE(choose(values, 3).k == 2);
  ClaraParameters parameters;
  const auto found = clara(Kokkos::Serial{}, {values, 100, 3}, parameters);
  REQUIRE(found.k == 2);
  REQUIRE(found.lone.size() == 1);
  REQUIRE(found.medoids[static_cast<std::size_t>(found.lone[0])] == 41);
}

TEST_CASE("the number of the window before is kept unless another is clearly better") {
  // Two pairs of near groups: two or four strata.
  std::vector<double> values;
  Uniform uniform(4);
  for (int i = 0; i < 160; ++i) values.push_back((i % 2) * 4.0 + (i / 2 % 2) * 1.0 + 0.3 * uniform());
  const auto fresh = choose(values, 1);
  REQUIRE(fresh.silhouettes[2] > 0);
  REQUIRE(fresh.silhouettes[4] > 0);
  const int other = fresh.k == 2 ? 4 : 2;
  const double gain = fresh.silhouette - fresh.silhouettes[static_cast<std::size_t>(other)];
  ChooseKParameters parameters;
  parameters.previous_k = other;
  parameters.clear_gain = gain + 0.01;
  REQUIRE(choose_k(Kokkos::Serial{}, {values, 160, 1}, parameters).k == other);
  parameters.clear_gain = gain - 0.01;
  REQUIRE(choose_k(Kokkos::Serial{}, {values, 160, 1}, parameters).k == fresh.k);
  parameters.previous_k = 7;  // not separated any more
  REQUIRE(choose_k(Kokkos::Serial{}, {values, 160, 1}, parameters).k == fresh.k);
}

TEST_CASE("scale and shift do not change the number") {
  auto values = separated_groups(120, 4, 3, 0.2, 9);
  const int k = choose(values, 4).k;
  for (double& value : values) value = value * 1e-3 + 1000;
  REQUIRE(choose(values, 4).k == k);
  for (double& value : values) value *= 1e200;
  REQUIRE(choose(values, 4).k == k);
}

TEST_CASE("the dip of known distributions") {
  std::vector<double> two, uniform, one(9, 3.0);
  for (int i = 0; i < 50; ++i) two.push_back(i < 25 ? 0 : 1);
  for (int i = 0; i < 50; ++i) uniform.push_back(i);
  REQUIRE(dip_statistic(two) == Approx(0.25));
  REQUIRE(dip_statistic(uniform) == Approx(0.5 / 50));
  REQUIRE(dip_statistic(one) == 0);
  // Four values: 0.1863 at 0.10, 0.2057 at 0.05, 0.125 at least (Hartigan & Hartigan 1985, table 1).
  Uniform draw(12345);
  int above = 0, far_above = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<double> sample = {draw(), draw(), draw(), draw()};
    std::sort(sample.begin(), sample.end());
    const double dip = dip_statistic(sample);
    REQUIRE(dip >= 0.125 - 1e-15);
    above += dip > 0.1863;
    far_above += dip > 0.2057;
  }
  REQUIRE(std::abs(above - 2000) < 150);
  REQUIRE(std::abs(far_above - 1000) < 110);
}

// A swap between identical objects gains rounding noise: it was once found again and again.
TEST_CASE("identical rows beside a different one end the search at once") {
  const std::vector<double> values{.75, .25, .75, .25, .75, .25, 2.25, .75};
  CHECK(choose(values, 2).k == 2);
  const std::vector<double> loads{1, 1, 1, 3};
  CHECK(choose(loads, 1).k >= 1);
}
