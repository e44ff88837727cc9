// Quality measures on cases computed by hand, and the verifier on wrong answers.
#include "measures.hpp"
#include "analytics/cluster_offline/pam.hpp"

#include "sets.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <numeric>

using namespace effort::cluster;
using namespace effort::cluster::test;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("the verifier accepts a right clustering and names errors") {
  const auto values = groups_of(80, 3, 3, 3, 12);
  const Signatures objects{values, 80, 3};
  PamParameters parameters;
  parameters.k = 3;
  const Clustering right = pam(Kokkos::Serial{}, objects, parameters);
  REQUIRE(verify(objects, right) == "");

  Clustering wrong = right;
  wrong.cost *= 1 + 1e-8;
  REQUIRE_THAT(verify(objects, wrong), ContainsSubstring("cost"));
  wrong = right;
  wrong.cost = std::nan("");
  REQUIRE_THAT(verify(objects, wrong), ContainsSubstring("cost"));
  wrong = right;
  wrong.medoids[1] = wrong.medoids[0];
  REQUIRE_THAT(verify(objects, wrong), ContainsSubstring("distinct"));
  wrong = right;
  wrong.medoids[2] = 80;
  REQUIRE_THAT(verify(objects, wrong), ContainsSubstring("not an object"));
  wrong = right;
  wrong.labels[5] = 3;
  REQUIRE_THAT(verify(objects, wrong), ContainsSubstring("not a stratum"));
  wrong = right;
  wrong.labels.pop_back();
  REQUIRE_THAT(verify(objects, wrong), ContainsSubstring("labels"));
  wrong = right;
  ++wrong.sizes[0];
  REQUIRE_THAT(verify(objects, wrong), ContainsSubstring("size"));
  wrong = right;
  wrong.lone = {0};
  REQUIRE_THAT(verify(objects, wrong), ContainsSubstring("one member"));

  // An object in a farther stratum, with matching sizes and cost.
  wrong = right;
  std::int32_t moved = 0;
  while (moved == right.medoids[0] || moved == right.medoids[1] || moved == right.medoids[2]) ++moved;
  std::int32_t& label = wrong.labels[static_cast<std::size_t>(moved)];
  --wrong.sizes[static_cast<std::size_t>(label)];
  label = (label + 1) % 3;
  ++wrong.sizes[static_cast<std::size_t>(label)];
  wrong.cost = mean_distance(objects, wrong.medoids, wrong.labels);
  REQUIRE_THAT(verify(objects, wrong), ContainsSubstring("nearer"));

  // A medoid in another stratum.
  wrong = right;
  const auto medoid = static_cast<std::size_t>(right.medoids[0]);
  wrong.labels[medoid] = 1;
  --wrong.sizes[0];
  ++wrong.sizes[1];
  REQUIRE_THAT(verify(objects, wrong), ContainsSubstring("own stratum"));
}

TEST_CASE("mean distance, by hand") {
  const std::vector<double> values = {0, 0, 3, 4, 10, 0, 10, 2};
  const std::vector<std::int32_t> medoids = {0, 2}, labels = {0, 0, 1, 1};
  REQUIRE(mean_distance({values, 4, 2}, medoids, labels) == Approx((5.0 + 2.0) / 4));
}

TEST_CASE("silhouettes, by hand") {
  const std::vector<double> values = {0, 1, 5};
  const std::vector<std::int32_t> labels = {0, 0, 1};
  // Object 0: a 1, b 5; object 1: a 1, b 4; object 2 is alone.
  const double expected = (4.0 / 5 + 3.0 / 4 + 0) / 3;
  REQUIRE(average_silhouette({values, 3, 1}, labels, 2) == Approx(expected));
  const std::vector<double> distances = {0, 1, 5, 1, 0, 4, 5, 4, 0};
  REQUIRE(average_silhouette(distances, labels, 2) == Approx(expected));
  REQUIRE(average_silhouette({values, 3, 1}, std::vector<std::int32_t>{0, 0, 0}, 1) == 0);
  const std::vector<double> same(40, 2.0);
  std::vector<std::int32_t> halves(40, 0);
  std::fill(halves.begin() + 20, halves.end(), 1);
  REQUIRE(average_silhouette({same, 40, 1}, halves, 2) == 0);
  // An object nearer to the other stratum: 0 for the object alone, (1 - 9) / 9 and (10 - 9) / 10.
  const std::vector<double> wrong = {0, 1, 10};
  REQUIRE(average_silhouette({wrong, 3, 1}, std::vector<std::int32_t>{0, 1, 1}, 2) == Approx((-8.0 / 9 + 0.1) / 3));
}
