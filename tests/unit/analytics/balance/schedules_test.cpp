#include "analytics/balance/schedules.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace effort::balance;
using Catch::Approx;

namespace {

// An effect that leaves nothing, learned from many rebalances.
RebalanceEffect perfect() {
  RebalanceEffect effect;
  for (int i = 0; i < 500; ++i) effect.observe(0.1 * (i % 10), 0);
  return effect;
}

std::vector<double> growing(double slope, int n) {
  std::vector<double> loss(static_cast<std::size_t>(n) + 1, 0.0);
  for (int a = 1; a <= n; ++a) loss[static_cast<std::size_t>(a)] = slope * a;
  return loss;
}

// The cheapest of all schedules that rebalance at a loss in step t, by recursion over all lengths.
double cheapest(const Prospects& prospects, int t, double loss) {
  if (t == prospects.horizon) return 0;
  double best = INFINITY;
  for (int n = 1; t + n <= prospects.horizon; ++n)
    best = std::min(best, prospects.made(t).sum(n) + cheapest(prospects, t + n, prospects.made(t).at(n)));
  return prospects.price.at(loss) + best;
}

}  // namespace

TEST_CASE("the cheapest schedule is that of an exhaustive search", "[balance]") {
  const RebalanceEffect effect = perfect();
  for (const PriceLine price :
       {PriceLine{0.05, 0}, PriceLine{0.4, 0}, PriceLine{3.0, 0}, PriceLine{0, 1}, PriceLine{0.2, 0.5}}) {
    Prospects prospects{{Ageing(growing(0.1, 12))}, Ageing(growing(0.1, 12)), effect, price, 0.5};
    prospects.horizon = 12;
    const ScheduleCosts costs = compare_schedules(prospects);
    // The lengths tried are roughly geometric, so they are fewer than those of the exhaustive search.
    const double best = cheapest(prospects, 0, 0.5);
    CHECK(costs.now >= best - 1e-9);
    CHECK(costs.now <= 1.03 * best + 12 * effect.after(0.5));
    CHECK(costs.never == Approx(12 * 0.5));
  }
}

TEST_CASE("a rebalance waits for the phase of the cycle in which divisions last", "[balance]") {
  const RebalanceEffect effect = perfect();
  std::vector<double> bad(101, 1.0), good(101, 0.1);
  Prospects prospects{
      {Ageing(bad), Ageing(bad), Ageing(good), Ageing(bad), Ageing(bad)}, Ageing(bad), effect, {2, 0}, 1.5};
  prospects.horizon = 100;
  const ScheduleCosts costs = compare_schedules(prospects);
  CHECK(costs.later < costs.now);
  CHECK(costs.delay == 2);
}

TEST_CASE("a rebalance does not wait for a step that comes before the next look", "[balance]") {
  const RebalanceEffect effect = perfect();
  std::vector<double> bad(101, 1.0), good(101, 0.1);
  Prospects prospects{{Ageing(bad), Ageing(good)}, Ageing(bad), effect, {0.5, 0}, 1.2};
  prospects.horizon = 100;
  CHECK(compare_schedules(prospects).delay == 1);
  CHECK(compare_schedules(prospects).later < compare_schedules(prospects).now);
  prospects.soonest = 10;
  prospects.level = 3;
  const ScheduleCosts costs = compare_schedules(prospects);
  CHECK(costs.delay >= 10);
  CHECK(costs.length >= 10);
  CHECK(costs.now < costs.later);
}

TEST_CASE("rebalances are possible only at multiples of the spacing", "[balance]") {
  const RebalanceEffect effect = perfect();
  Prospects prospects{{Ageing(growing(0.1, 60))}, Ageing(growing(0.1, 60)), effect, {0.1, 0}, 0.5};
  prospects.horizon = 60;
  prospects.spacing = 10;
  CHECK(compare_schedules(prospects).length % 10 == 0);
}
