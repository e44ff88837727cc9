#include "analytics/balance/cost_model.hpp"
#include "bench/balance/parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

namespace effort::bench {

void bench_costs() {
  // Two kinds of work, two node speeds, 10 % noise, 4 nodes of 8 ranks, 40 steps.
  constexpr int nodes = 4, ranks = 8, steps = 40, draws = 500;
  const double cost[2] = {2e-6, 7e-6};
  std::mt19937 engine(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> amount(0.3, 1.7);
  std::printf("| slow nodes | cost 1: worst, covered | cost 2: worst, covered | speed: worst |\n|---|---|---|---|\n");
  for (int slow : {0, 1, 2}) {
    double worst[2] = {0, 0}, worst_speed = 0;
    int covered[2] = {0, 0};
    for (int draw = 0; draw < draws; ++draw) {
      std::vector<balance::WorkLog> logs;
      std::vector<double> largest;
      for (int node = 0; node < nodes; ++node) {
        const double speed = node >= nodes - slow ? 1.4 : 1;
        std::vector<double> work(2 * ranks * steps), load(ranks * steps);
        for (std::size_t i = 0; i < load.size(); ++i) {
          work[i] = 1000 * amount(engine);
          work[load.size() + i] = 300 * amount(engine);
          load[i] = speed * (cost[0] * work[i] + cost[1] * work[load.size() + i]) * (1 + 0.1 * normal(engine));
        }
        logs.emplace_back(2, ranks);
        logs.back().add(work, load, steps, 1e-12);
        const std::vector<double> own = logs.back().largest();
        largest.resize(own.size(), 0.0);
        for (std::size_t i = 0; i < own.size(); ++i) largest[i] = std::max(largest[i], own[i]);
      }
      const balance::WorkScale scale(2, largest, nodes * ranks);
      std::vector<std::vector<std::int64_t>> sums;
      for (const balance::WorkLog& log : logs) sums.push_back(log.sums(scale));
      const balance::CostModel model = balance::fit_costs(scale, sums, std::vector<double>(nodes, ranks));
      for (std::size_t u = 0; u < 2; ++u) {
        worst[u] = std::max(worst[u], std::fabs(model.unit_cost[u] / cost[u] - 1));
        covered[u] += std::fabs(model.unit_cost[u] - cost[u]) <= 1.96 * model.unit_cost_error[u];
      }
      for (int node = 0; node < nodes; ++node)
        worst_speed = std::max(
            worst_speed,
            std::fabs(model.node_speed[static_cast<std::size_t>(node)] / (node >= nodes - slow ? 1.4 : 1) - 1));
    }
    std::printf("| %d of %d | %.2f %%, %.1f %% | %.2f %%, %.1f %% | %.2f %% |\n", slow, nodes, 100 * worst[0],
                100.0 * covered[0] / draws, 100 * worst[1], 100.0 * covered[1] / draws, 100 * worst_speed);
  }
}

}  // namespace effort::bench
