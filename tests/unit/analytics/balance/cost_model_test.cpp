#include "analytics/balance/cost_model.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

using namespace effort::balance;
using Catch::Approx;

namespace {

constexpr double cost[2] = {2e-6, 7e-6};

// Two kinds of work with 10 % noise, done by `ranks` ranks of that speed in `steps` steps.
WorkLog generated(std::mt19937& engine, int ranks, int steps, double speed, int slow_rank = -1) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> amount(0.3, 1.7);
  const std::size_t n = static_cast<std::size_t>(ranks) * steps;
  std::vector<double> work(2 * n), load(n);
  for (std::size_t i = 0; i < n; ++i) {
    work[i] = 1000 * amount(engine);
    work[n + i] = 300 * amount(engine);
    load[i] = speed * (cost[0] * work[i] + cost[1] * work[n + i]) * (1 + 0.1 * normal(engine));
    if (static_cast<int>(i) / steps == slow_rank) load[i] *= 2;
  }
  WorkLog log(2, ranks);
  log.add(work, load, steps, 1e-12);
  return log;
}

std::vector<double> largest_of(const std::vector<WorkLog>& logs) {
  std::vector<double> most;
  for (const WorkLog& log : logs) {
    const std::vector<double> own = log.largest();
    most.resize(own.size(), 0.0);
    for (std::size_t i = 0; i < own.size(); ++i) most[i] = std::max(most[i], own[i]);
  }
  return most;
}

CostModel fit(const std::vector<WorkLog>& logs) {
  std::vector<double> ranks;
  for (const WorkLog& log : logs) ranks.push_back(log.ranks());
  const WorkScale scale(logs[0].units(), largest_of(logs),
                        static_cast<int>(std::accumulate(ranks.begin(), ranks.end(), 0.0)));
  std::vector<std::vector<std::int64_t>> sums;
  for (const WorkLog& log : logs) sums.push_back(log.sums(scale));
  return fit_costs(scale, sums, ranks);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace

TEST_CASE("costs, speeds and errors of 500 generated runs", "[balance]") {
  constexpr int nodes = 4, draws = 500;
  for (int slow : {0, 1, 2}) {
    int covered[2] = {0, 0}, cost_good[2] = {0, 0}, speed_good = 0;
    std::mt19937 engine(7);
    for (int draw = 0; draw < draws; ++draw) {
      std::vector<WorkLog> logs;
      std::vector<double> speed;
      for (int node = 0; node < nodes; ++node) {
        speed.push_back(node >= nodes - slow ? 1.4 : 1.0);
        logs.push_back(generated(engine, 8, 40, speed.back()));
      }
      const CostModel model = fit(logs);
      for (int u = 0; u < 2; ++u) {
        covered[u] += std::fabs(model.unit_cost[u] - cost[u]) <= 1.96 * model.unit_cost_error[u];
        cost_good[u] += std::fabs(model.unit_cost[u] / cost[u] - 1) < 0.05;
      }
      bool good = model.slow_node == (slow > 0);
      for (int node = 0; node < nodes; ++node)
        good = good && std::fabs(model.node_speed[node] / speed[node] - 1) < 0.03;
      speed_good += good;
    }
    INFO("slow " << slow << ", covered " << covered[0] << " " << covered[1]);
    for (int u = 0; u < 2; ++u) {
      CHECK(covered[u] >= 0.90 * draws);
      CHECK(covered[u] <= 0.99 * draws);
      CHECK(cost_good[u] == draws);
    }
    CHECK(speed_good == draws);
  }
}

// Ranks first .. first + n - 1 of a run that is the same for every split. Those from `slow` on take 1.5 times as long.
WorkLog part_of_run(int first, int n, int slow) {
  constexpr int steps = 30;
  const std::size_t all = static_cast<std::size_t>(n) * steps;
  std::vector<double> work(2 * all), load(all);
  for (int r = 0; r < n; ++r)
    for (int s = 0; s < steps; ++s) {
      const int id = first + r;
      const std::size_t at = static_cast<std::size_t>(r) * steps + s;
      work[at] = 1000 + 37.1 * ((id * 7 + s * 3) % 29);
      work[all + at] = 300 + 11.3 * ((id * 5 + s * 11) % 31);
      load[at] = (cost[0] * work[at] + cost[1] * work[all + at]) * (1 + 0.01 * ((id * 13 + s * 17) % 19 - 9)) *
                 (id >= slow ? 1.5 : 1.0);
    }
  WorkLog log(2, n);
  log.add(work, load, steps, 1e-12);
  return log;
}

TEST_CASE("costs and speeds do not depend on the split of the ranks into nodes", "[balance]") {
  constexpr int n_ranks = 24;
  for (int slow : {n_ranks, 18}) {  // all equal; the last six slower, on separate nodes
    std::vector<CostModel> models;
    for (int per_node : {6, 1, 2, 3}) {
      std::vector<WorkLog> logs;
      for (int first = 0; first < n_ranks; first += per_node) logs.push_back(part_of_run(first, per_node, slow));
      models.push_back(fit(logs));
    }
    for (const CostModel& model : models) {
      CHECK(same_bits(model.unit_cost, models[0].unit_cost));
      CHECK(same_bits(model.unit_cost_error, models[0].unit_cost_error));
      CHECK(model.node_speed.front() == 1.0);
      CHECK(std::memcmp(&model.node_speed.back(), &models[0].node_speed.back(), sizeof(double)) == 0);
    }
    CHECK(models[0].node_speed.back() == Approx(slow == n_ranks ? 1.0 : 1.5).epsilon(0.02));
  }
}

TEST_CASE("a rank that differs from its node is distinguished from one that does not", "[balance]") {
  std::mt19937 engine(11);
  const std::vector<double> truth(cost, cost + 2);
  int found = 0, wrong = 0;
  for (int draw = 0; draw < 50; ++draw) {
    const WorkLog log = generated(engine, 8, 60, 1.0, draw % 8);
    for (int r = 0; r < 8; ++r) {
      const RankSpeed speed = rank_speed(log.rank(r), truth, 0.1);
      if (r == draw % 8)
        found += unlike_node(speed, 1.0) && std::fabs(speed.speed / 2 - 1) < 0.1;
      else
        wrong += unlike_node(speed, 1.0);
    }
  }
  CHECK(found == 50);
  CHECK(wrong == 0);
  CHECK_FALSE(unlike_node(rank_speed(WorkLog(2, 1).rank(0), truth, 0.1), 1.0));
}

TEST_CASE("a rank whose clock stands still does not affect costs", "[balance]") {
  std::mt19937 engine(5);
  const CostModel good = fit({generated(engine, 4, 40, 1.0)});
  engine.seed(5);
  WorkLog log = generated(engine, 4, 40, 1.0), stopped(2, 4);
  const std::vector<double> work(2 * 4 * 40, 500.0), none(4 * 40, 0.0);
  stopped.add(work, none, 40, 1e-12);
  log.add(stopped);
  CHECK(same_bits(fit({log}).unit_cost, good.unit_cost));
}
