#include "analytics/balance/weights.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <numeric>
#include <random>

using namespace effort::balance;
using Catch::Approx;

TEST_CASE("the weight of an item is the cost of its units", "[balance]") {
  const auto w = item_weights(std::vector<double>{1, 2, 3, 4}, std::vector<double>{10, -1});
  CHECK(w == std::vector<double>{10, 30});
  CHECK(item_weights(std::vector<double>{1, 2}, std::vector<double>{-1}) == std::vector<double>{1, 1});
  CHECK_THROWS_AS(item_weights(std::vector<double>{1}, std::vector<double>{1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(item_weights(std::vector<double>{-1}, std::vector<double>{1}), std::invalid_argument);
}

TEST_CASE("integer costs have the given sum and are within one of their share", "[balance]") {
  std::mt19937 engine(3);
  std::exponential_distribution<double> draw(1);
  for (std::int64_t sum : {1000, 1001, 123456789}) {
    std::vector<double> weight(137);
    for (double& w : weight) w = draw(engine);
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    const auto cost = integer_costs(weight, sum, 1);
    CHECK(std::accumulate(cost.begin(), cost.end(), std::int64_t{0}) == sum);
    for (std::size_t i = 0; i < cost.size(); ++i)
      CHECK(std::fabs(static_cast<double>(cost[i]) - 1 - weight[i] / total * static_cast<double>(sum - 137)) <= 1.0);
  }
  CHECK(integer_costs(std::vector<double>{0, 0}, 5) == std::vector<std::int64_t>{3, 2});
  CHECK_THROWS_AS(integer_costs(std::vector<double>{1, 1}, 1, 1), std::invalid_argument);
}

TEST_CASE("rank factors have mean 1", "[balance]") {
  const auto f = rank_factors(std::vector<double>{3, 1, 0, 4});
  CHECK(std::accumulate(f.begin(), f.end(), 0.0) == Approx(4));
  CHECK(f[0] / f[1] == Approx(3));
  CHECK(f[2] > 0);
}
