// The quality mode against PAM on all pairs.
#include "analytics/cluster_offline/quality.hpp"
#include "analytics/cluster/clara.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster_offline/pam.hpp"
#include "analytics/sampling/draw.hpp"
#include "measures.hpp"

#include "kinds.hpp"
#include "sets.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <limits>

using namespace effort::cluster;
using namespace effort::cluster::test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("within one percent of PAM with eager swaps on all pairs", "", EFFORT_TEST_SPACES) {
  struct Case {
    std::size_t n, d;
    int groups;
    double separation;
    int k;
  };
  for (const Case& c :
       {Case{3000, 10, 6, 1, 5}, Case{3000, 10, 6, 3, 6}, Case{2500, 30, 1, 0, 4}, Case{600, 3, 4, 3, 4}}) {
    const auto values = groups_of(c.n, c.d, c.groups, c.separation, 51);
    const Signatures objects{values, c.n, c.d};
    PamParameters exact;
    exact.k = c.k;
    exact.swap = SwapRule::eager;
    const double best = pam(Kokkos::Serial{}, objects, exact).cost;
    QualityParameters parameters;
    parameters.k = c.k;
    std::vector<double> costs;
    for (parameters.seed = 1; parameters.seed <= 3; ++parameters.seed) {
      const auto found = quality(TestType{}, objects, parameters);
      REQUIRE(verify(objects, found) == "");
      costs.push_back(found.cost);
      const auto again = quality(Kokkos::Serial{}, objects, parameters);
      REQUIRE(found.medoids == again.medoids);
      REQUIRE(found.cost == again.cost);
    }
    std::sort(costs.begin(), costs.end());
    CAPTURE(c.n, c.d, c.k);
    REQUIRE(costs[1] <= 1.01 * best);
  }
}

TEST_CASE("within one percent of the best of several runs on all pairs, for objects of all kinds") {
  struct Shape {
    std::size_t n, d;
  };
  const int strata[] = {2, 5, 8, 10, 20};
  std::size_t next = 0;
  for (const Shape& given : {Shape{400, 120}, Shape{1100, 16}, Shape{2100, 1}}) {
    for (const Kind& kind : all_kinds()) {
      const Shape shape = given.d == 1 && next % 2 == 0 ? Shape{2100, 24} : given;
      const auto values = Maker(kind, shape.d, static_cast<unsigned>(300 + next)).objects(shape.n);
      const Signatures objects{values, shape.n, shape.d};
      QualityParameters parameters;
      parameters.k = strata[next++ % 5];
      const auto found = quality(Kokkos::Serial{}, objects, parameters);
      CAPTURE(kind.name(), shape.n, shape.d, parameters.k);
      REQUIRE(verify(objects, found) == "");
      CHECK(found.cost <= 1.01 * best_of_runs(objects, parameters.k, 3));
    }
  }
}

TEST_CASE("many objects in single precision: shifted, far from each other, or with values that need double precision") {
  constexpr std::size_t n = 9000, d = 3;
  const auto values = Maker({Kind::Form::outliers, 4, 10, false}, d, 9).objects(n);
  QualityParameters parameters;
  parameters.k = 7;
  const auto plain = quality(Kokkos::Serial{}, {values, n, d}, parameters);
  for (const double scale : {0x1p-600, 0x1p400}) {
    std::vector<double> scaled;
    for (const double value : values) scaled.push_back(scale * value);
    REQUIRE(quality(Kokkos::Serial{}, {scaled, n, d}, parameters).medoids == plain.medoids);
  }
  std::vector<double> shifted, far = values;
  for (const double value : values) shifted.push_back(value + 0x1p24);
  REQUIRE(quality(Kokkos::Serial{}, {shifted, n, d}, parameters).cost < 1.001 * plain.cost);
  // One object is so far away that it takes a medoid of its own. The distances of the others are below single
  // precision.
  far[0] = 1e12;
  const auto with_far = quality(Kokkos::Serial{}, {far, n, d}, parameters);
  REQUIRE(verify({far, n, d}, with_far) == "");
  REQUIRE(with_far.cost < 2 * plain.cost);
  REQUIRE(with_far.lone.size() >= 1);
}

TEMPLATE_TEST_CASE("objects that most samples miss get medoids, and threads change nothing", "", EFFORT_TEST_SPACES) {
  constexpr std::size_t n = 9000, d = 6;
  auto values = groups_of(n, d, 4, 4, 61);
  QualityParameters parameters;
  parameters.k = 4;
  const double cost = quality(Kokkos::Serial{}, {values, n, d}, parameters).cost;
  const std::vector<std::int32_t> far = {17, 4321, 8888};
  for (std::size_t i = 0; i < far.size(); ++i) values[static_cast<std::size_t>(far[i]) * d + i] += 3000;
  for (std::size_t i = 100; i < 112; ++i) values[i * d + 4] += 400;
  parameters.k = 8;  // the groups, those far away, and the few
  for (parameters.seed = 1; parameters.seed <= 3; ++parameters.seed) {
    const auto found = quality(TestType{}, {values, n, d}, parameters);
    CAPTURE(parameters.seed);
    REQUIRE(verify({values, n, d}, found) == "");
    REQUIRE(found.lone.size() == far.size());
    for (const std::int32_t id : far)
      CHECK(std::find(found.medoids.begin(), found.medoids.end(), id) != found.medoids.end());
    CHECK(
        std::any_of(found.medoids.begin(), found.medoids.end(), [](std::int32_t id) { return id >= 100 && id < 112; }));
    CHECK(found.cost < 1.01 * cost);
    const auto serial = quality(Kokkos::Serial{}, {values, n, d}, parameters);
    CHECK(found.medoids == serial.medoids);
    CHECK(found.cost == serial.cost);
  }
}

TEST_CASE("coincident objects and bad input in the quality mode") {
  std::vector<double> values;
  for (int i = 0; i < 3000; ++i) values.insert(values.end(), {double(i % 2), 1.0});
  QualityParameters parameters;
  parameters.k = 4;
  const auto found = quality(Kokkos::Serial{}, {values, 3000, 2}, parameters);
  REQUIRE(found.cost == 0);
  REQUIRE(verify({values, 3000, 2}, found) == "");
  parameters.starts = -1;
  REQUIRE_THROWS_AS(quality(Kokkos::Serial{}, {values, 3000, 2}, parameters), std::invalid_argument);
  parameters.starts = 0;
  parameters.k = 3001;
  REQUIRE_THROWS_AS(quality(Kokkos::Serial{}, {values, 3000, 2}, parameters), std::invalid_argument);
  parameters.k = 2;
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    values[99] = bad;
    REQUIRE_THROWS_WITH(quality(Kokkos::Serial{}, {values, 3000, 2}, parameters),
                        ContainsSubstring("row 49") && ContainsSubstring("column 1"));
  }
  REQUIRE_THROWS_AS(quality(Kokkos::Serial{}, {{}, 0, 2}, parameters), std::invalid_argument);
  REQUIRE_THROWS_AS(quality(Kokkos::Serial{}, {{}, 2, 0}, parameters), std::invalid_argument);
  parameters.k = 0;
  values[99] = 1;
  REQUIRE_THROWS_AS(quality(Kokkos::Serial{}, {values, 3000, 2}, parameters), std::invalid_argument);
}
