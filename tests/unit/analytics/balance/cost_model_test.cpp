#include "analytics/balance/cost_model.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <random>

using namespace effort::balance;
using Catch::Approx;

TEST_CASE("costs, speeds and errors of 500 generated runs", "[balance]") {
  // Two kinds of work, 10 % noise, two node speeds; the first and third of four nodes are the typical ones.
  constexpr int nodes = 4, ranks = 8, steps = 40, draws = 500;
  const double cost[2] = {2e-6, 7e-6}, speed[nodes] = {1, 1, 1, 1.4};
  int covered[2] = {0, 0}, cost_good[2] = {0, 0}, speed_good = 0;
  std::mt19937 engine(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> amount(0.3, 1.7);
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<WorkLog> logs;
    for (int node = 0; node < nodes; ++node) {
      std::vector<double> work(2 * ranks * steps), load(ranks * steps);
      for (int i = 0; i < ranks * steps; ++i) {
        work[i] = 1000 * amount(engine);
        work[ranks * steps + i] = 300 * amount(engine);
        load[i] = speed[node] * (cost[0] * work[i] + cost[1] * work[ranks * steps + i]) * (1 + 0.1 * normal(engine));
      }
      logs.emplace_back(2, 0);
      logs.back().add(work, load, {}, ranks, steps, 1e-12);
    }
    const std::vector<double> weights(nodes, ranks);
    const CostModel model = fit_costs(logs, weights, 0);
    for (int u = 0; u < 2; ++u) {
      covered[u] += std::fabs(model.unit_cost[u] - cost[u]) <= 1.96 * model.unit_cost_error[u];
      cost_good[u] += std::fabs(model.unit_cost[u] / cost[u] - 1) < 0.05;
    }
    speed_good += std::fabs(model.node_speed[3] / 1.4 - 1) < 0.03;
  }
  INFO("covered " << covered[0] << " " << covered[1] << ", costs within 5 % " << cost_good[0] << " " << cost_good[1]
                  << ", speeds within 3 % " << speed_good << " of " << draws);
  for (int u = 0; u < 2; ++u) {
    CHECK(covered[u] >= 0.90 * draws);
    CHECK(covered[u] <= 0.99 * draws);
    CHECK(cost_good[u] >= 0.95 * draws);
  }
  CHECK(speed_good >= 0.95 * draws);
}

TEST_CASE("a log survives being sent", "[balance]") {
  WorkLog log(1, 1);
  log.add(std::vector<double>{1, 2}, std::vector<double>{3, 6}, std::vector<double>{3, 6}, 1, 2, 1e-9);
  const WorkLog same = WorkLog::unpack(log.pack(), 1, 1);
  const CostModel model = fit_costs(std::vector<WorkLog>{same}, std::vector<double>{1}, 1);
  CHECK(model.unit_cost[0] == Approx(3));
  CHECK(model.region_unit_cost[0] == Approx(3));
}
