#include "analytics/replay/replay.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace effort::replay;
using Catch::Approx;

namespace {

// [ranks][steps] a hot spot that moves over the ranks.
std::vector<double> moving(int ranks, int steps, double speed) {
  std::vector<double> load;
  for (int r = 0; r < ranks; ++r)
    for (int s = 0; s < steps; ++s) {
      double d = std::fabs(r - std::fmod(0.3 * ranks + speed * s, ranks));
      d = std::min(d, ranks - d);
      load.push_back(1 + 6 * std::exp(-d * d / 18));
    }
  return load;
}

// The model, written down once more in the plainest way.
double plain_cost(const std::vector<double>& load, int ranks, int steps, int window, int lag, const std::vector<int>& at, double price) {
  double cost = price * static_cast<double>(at.size());
  std::vector<double> w(static_cast<std::size_t>(ranks), 1.0);
  for (int s = 0; s < steps; ++s) {
    for (int k : at) {
      if (s != (k + 1) * window + lag) continue;
      double mean = 0;
      std::vector<double> m(static_cast<std::size_t>(ranks), 0.0);
      for (int r = 0; r < ranks; ++r) {
        for (int i = s - lag - window; i < s - lag; ++i) m[r] += load[r * steps + i] / window;
        mean += m[r] / ranks;
      }
      for (int r = 0; r < ranks; ++r) w[r] = mean / std::max(m[r], 0.05 * mean);
    }
    double total = 0, weighted = 0, largest = 0;
    for (int r = 0; r < ranks; ++r) {
      total += load[r * steps + s];
      weighted += load[r * steps + s] * w[r];
      largest = std::max(largest, load[r * steps + s] * w[r]);
    }
    cost += largest * total / weighted;
  }
  return cost;
}

}  // namespace

TEST_CASE("costs follow the model, and the best schedule is the best of all", "[replay]") {
  const int ranks = 7, steps = 63;
  const auto load = moving(ranks, steps, 0.1);
  const LoadModel model(load, ranks, steps, 10, 2);
  REQUIRE(model.opportunities() == 6);
  for (double price : {0.0, 3.0, 20.0}) {
    double least = 1e300;
    for (int set = 0; set < 64; ++set) {
      std::vector<int> at;
      for (int k = 0; k < 6; ++k)
        if (set >> k & 1) at.push_back(k);
      const double cost = schedule_cost(model, at, price);
      CHECK(cost == Approx(plain_cost(load, ranks, steps, 10, 2, at, price)));
      least = std::min(least, cost);
    }
    const Schedule best = best_schedule(model, price);
    CHECK(best.cost == Approx(least));
    CHECK(schedule_cost(model, best.windows, price) == Approx(best.cost));
  }
  CHECK_THROWS_AS(schedule_cost(model, std::vector<int>{2, 1}, 1), std::invalid_argument);
}

TEST_CASE("a replay's cost is that of its schedule, whatever the number of nodes", "[replay]") {
  const int ranks = 24, steps = 160;
  const auto load = moving(ranks, steps, 0.05);
  Options options;
  options.price = 4;
  options.nodes = 1;
  const Report one = replay({load, 1, ranks, steps}, options);
  CHECK(one.chosen.cost == Approx(plain_cost(load, ranks, steps, 10, 2, one.chosen.windows, 4)));
  CHECK(one.cost_never == Approx(plain_cost(load, ranks, steps, 10, 2, {}, 4)));
  CHECK(one.best.cost <= one.chosen.cost);
  CHECK(one.chosen.windows.size() > 1);
  CHECK((one.cost_never - one.chosen.cost) / (one.cost_never - one.best.cost) > 0.8);
  CHECK(one.windows.size() == 16);
  options.nodes = 3;
  const Report three = replay({load, 1, ranks, steps}, options);
  CHECK(three.chosen.windows == one.chosen.windows);
}

TEST_CASE("a tiled recording decides as the recording itself", "[replay]") {
  const auto load = moving(16, 100, 0.05);
  Options options;
  options.price = 4;
  const Report one = replay({load, 1, 16, 100}, options);
  options.virtual_ranks = 512;
  const Report tiled = replay({load, 1, 16, 100}, options);
  CHECK(tiled.ranks == 512);
  CHECK(tiled.nodes == 2);
  CHECK(tiled.chosen.windows == one.chosen.windows);
  CHECK(tiled.cost_never == Approx(one.cost_never));
}

TEST_CASE("bad recordings are refused", "[replay]") {
  CHECK_THROWS_AS(replay({{}, 1, 2, 3}, Options{}), std::invalid_argument);
  const std::vector<double> bad{1, std::nan("")};
  CHECK_THROWS_AS(replay({bad, 1, 1, 2}, Options{}), std::invalid_argument);
}
