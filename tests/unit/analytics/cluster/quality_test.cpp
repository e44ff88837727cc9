// The quality mode against PAM on all pairs.
#include "analytics/cluster/quality.hpp"
#include "analytics/cluster/clara.hpp"
#include "analytics/cluster/measures.hpp"
#include "analytics/cluster/pam.hpp"

#include "sets.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <limits>

using namespace effort::cluster;
using namespace effort::cluster::test;

TEMPLATE_TEST_CASE("within one percent of PAM with eager swaps on all pairs", "", EFFORT_TEST_SPACES) {
  struct Case {
    std::size_t n, d;
    int groups;
    double separation;
    int k;
  };
  for (const Case& c : {Case{3000, 10, 6, 1, 5}, Case{3000, 10, 6, 3, 6}, Case{2500, 30, 1, 0, 4}, Case{600, 3, 4, 3, 4}}) {
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

TEST_CASE("coincident objects and bad input in the quality mode") {
  std::vector<double> values;
  for (int i = 0; i < 3000; ++i) values.insert(values.end(), {double(i % 2), 1.0});
  QualityParameters parameters;
  parameters.k = 4;
  const auto found = quality(Kokkos::Serial{}, {values, 3000, 2}, parameters);
  REQUIRE(found.cost == 0);
  REQUIRE(verify({values, 3000, 2}, found) == "");
  parameters.batch = 3;
  REQUIRE_THROWS_AS(quality(Kokkos::Serial{}, {values, 3000, 2}, parameters), std::invalid_argument);
  parameters.batch = 0;
  parameters.k = 3001;
  REQUIRE_THROWS_AS(quality(Kokkos::Serial{}, {values, 3000, 2}, parameters), std::invalid_argument);
  parameters.k = 2;
  values[99] = std::numeric_limits<double>::quiet_NaN();
  REQUIRE_THROWS_AS(quality(Kokkos::Serial{}, {values, 3000, 2}, parameters), std::invalid_argument);
}
