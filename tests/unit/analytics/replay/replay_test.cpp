#include "analytics/replay/replay.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

using namespace effort::replay;
using Catch::Approx;

namespace {

// A hot spot that moves over the ranks, [ranks][steps].
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

// The model of an ideal rebalancer again, in the simplest form: before each of the steps `at`, loads are divided by the
// mean of the loads that ranks would have had without rebalancing in the `width` steps before.
double plain_cost(const std::vector<double>& load, int ranks, int steps, const std::vector<int>& at,
                  const std::vector<int>& width, double price) {
  double cost = price * static_cast<double>(at.size());
  std::vector<double> w(static_cast<std::size_t>(ranks), 1.0);
  for (int s = 0; s < steps; ++s) {
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (s != at[k]) continue;
      const int first = std::max(0, s - width[k]);
      double mean = 0;
      std::vector<double> m(static_cast<std::size_t>(ranks), 0.0);
      for (int r = 0; r < ranks; ++r) {
        for (int i = first; i < s; ++i) m[r] += load[r * steps + i] / (s - first);
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

Options at_price(double price, const char* rebalancer = "ideal") {
  Options options;
  options.price = price;
  options.rebalancer = parse_rebalancer(rebalancer);
  return options;
}

}  // namespace

TEST_CASE("the best schedule is the best of all those that may rebalance after any step", "[replay]") {
  const int ranks = 5, steps = 8;
  const auto load = moving(ranks, steps, 0.4);
  const Recording recording(load, ranks, steps);
  CHECK(cost_of_never(recording) == Approx(plain_cost(load, ranks, steps, {}, {}, 0)));
  for (double price : {0.0, 0.7, 3.0, 20.0}) {
    double least = 1e300;
    for (int set = 0; set < 1 << (steps - 1); ++set) {
      std::vector<int> at;
      for (int s = 1; s < steps; ++s)
        if (set >> (s - 1) & 1) at.push_back(s);
      // Every choice of widths, one digit each.
      int choices = 1;
      for (std::size_t k = 0; k < at.size(); ++k) choices *= 3;
      for (int choice = 0; choice < choices; ++choice) {
        std::vector<int> width;
        for (int rest = choice; width.size() < at.size(); rest /= 3)
          width.push_back(averaging_widths[static_cast<std::size_t>(rest % 3)]);
        least = std::min(least, plain_cost(load, ranks, steps, at, width, price));
      }
    }
    const Schedule best = best_schedule(recording, {}, {price});
    CHECK(best.exact);
    CHECK(best.cost == Approx(least));
  }
}

TEST_CASE("a fixed schedule rebalances at regular intervals", "[replay]") {
  const int ranks = 7, steps = 40;
  const auto load = moving(ranks, steps, 0.2);
  const Schedule ten = fixed_schedule(Recording(load, ranks, steps), {}, 10, {2.0});
  CHECK(ten.steps == std::vector<std::int64_t>{10, 20, 30});
  const double last = plain_cost(load, ranks, steps, {10, 20, 30}, {1, 1, 1}, 2.0);
  CHECK(ten.cost <= last * (1 + 1e-12));
}

TEST_CASE("a rank without work gets no more by many rebalances than by one", "[replay]") {
  const int ranks = 4, steps = 12;
  std::vector<double> load(static_cast<std::size_t>(ranks * steps), 1.0);
  std::fill_n(load.begin(), steps, 0.01);
  const double plain = plain_cost(load, ranks, steps, {2, 4, 6, 8, 10}, {1, 1, 1, 1, 1}, 0);
  CHECK(fixed_schedule(Recording(load, ranks, steps), {}, 2, {}).cost == Approx(plain));
}

TEST_CASE("every rebalancer conserves the work and leaves the stated imbalance", "[replay]") {
  const int ranks = 8;
  std::vector<double> load;
  for (int r = 0; r < ranks; ++r)
    for (int s = 0; s < 4; ++s) load.push_back(1.0 + r);
  const Recording recording(load, ranks, 4);
  const std::vector<double> before = recording.mean_before(1, 1);
  const double mean = 4.5;
  const auto after = [&](const char* name) {
    Division division(recording, parse_rebalancer(name));
    division.rebalance(before, before);
    std::vector<double> out;
    division.loads(1, out);
    double sum = 0;
    for (double x : out) sum += x;
    CHECK(sum == Approx(mean * ranks));
    return *std::max_element(out.begin(), out.end()) / mean - 1;
  };
  const double loss = 8 / mean - 1;
  CHECK(after("ideal") == Approx(0).margin(1e-12));
  CHECK(after("bounded:0.3") == Approx(0.7 * loss));
  CHECK(after("noisy:0.1") > 0.02);
  CHECK(after("noisy:0.1") < 0.5);
  const double fine = after("blocks:64"), coarse = after("blocks:2");
  CHECK(fine < coarse);
  CHECK(coarse < loss);
  for (const char* bad :
       {"", "best", "bounded", "bounded:0", "bounded:2", "noisy:-1", "blocks:0", "blocks:x", "ideal:1"})
    CHECK_THROWS_AS(parse_rebalancer(bad), std::invalid_argument);
}

TEST_CASE("a replay comes near the best schedule for any number of nodes", "[replay]") {
  const int ranks = 24, steps = 160;
  const auto load = moving(ranks, steps, 0.05);
  Options options = at_price(4);
  options.nodes = 1;
  const Report one = replay({load, 1, ranks, steps}, options);
  CHECK(one.cost_never == Approx(plain_cost(load, ranks, steps, {}, {}, 4)));
  CHECK(one.best.cost <= one.chosen.cost);
  CHECK(one.chosen.steps.size() > 1);
  CHECK((one.cost_never - one.chosen.cost) / (one.cost_never - one.best.cost) > 0.8);
  for (double fixed : one.cost_fixed) CHECK(one.best.cost <= fixed);
  options.nodes = 3;
  const Report three = replay({load, 1, ranks, steps}, options);
  CHECK(three.chosen.steps == one.chosen.steps);
  CHECK(three.chosen.cost == Approx(one.chosen.cost));
}

TEST_CASE("windows of a replay are joined looks: they are contiguous, and end with the recommendation", "[replay]") {
  const int ranks = 24, steps = 160;
  const auto load = moving(ranks, steps, 0.05);
  const Report report = replay({load, 1, ranks, steps}, at_price(4));
  std::int64_t next = 0;
  std::size_t rebalanced = 0;
  for (const WindowReport& w : report.windows) {
    CHECK(w.first == next);
    CHECK(w.last >= w.first);
    next = w.last + 1;
    if (w.rebalanced_at >= 0) {
      CHECK(w.rebalance == 1);
      ++rebalanced;
    }
  }
  CHECK(next == steps);
  CHECK(rebalanced == report.chosen.steps.size());
}

TEST_CASE("an unknown price is learned with the first rebalance", "[replay]") {
  const int ranks = 24, steps = 300;
  const auto load = moving(ranks, steps, 0.05);
  for (const char* rebalancer : {"ideal", "bounded:0.3", "noisy:0.1", "blocks:8"}) {
    Options options = at_price(2, rebalancer);
    const Report known = replay({load, 1, ranks, steps}, options);
    options.price_known = false;
    const Report unknown = replay({load, 1, ranks, steps}, options);
    CHECK(unknown.chosen.cost <= 1.05 * known.chosen.cost + 2);
    if (std::string(rebalancer) != "ideal") CHECK_FALSE(known.best.exact);
  }
}

TEST_CASE("a node that becomes slow is relieved within a few steps, even at the price of ten", "[replay]") {
  constexpr int ranks = 16, steps = 220;
  std::mt19937 random(9);
  std::normal_distribution<double> noise(1, 0.02);
  std::vector<double> load;
  for (int r = 0; r < ranks; ++r)
    for (int s = 0; s < steps; ++s) load.push_back((r < 2 && s >= 64 ? 1.6 : 1.0) * noise(random));
  const Report report = replay({load, 1, ranks, steps}, at_price(10));
  REQUIRE(report.chosen.steps.size() == 1);
  CHECK(report.chosen.steps[0] > 64);
  CHECK(report.chosen.steps[0] <= 75);
}

TEST_CASE("a tiled recording leads to the same decisions as the recording itself", "[replay]") {
  const auto load = moving(16, 100, 0.05);
  Options options = at_price(4);
  const Report one = replay({load, 1, 16, 100}, options);
  options.virtual_ranks = 512;
  const Report tiled = replay({load, 1, 16, 100}, options);
  CHECK(tiled.ranks == 512);
  CHECK(tiled.nodes == 2);
  CHECK(tiled.chosen.steps == one.chosen.steps);
  CHECK(tiled.cost_never == Approx(one.cost_never));
}

TEST_CASE("negative values from lossy compression count as zero", "[replay]") {
  auto load = moving(16, 100, 0.05);
  load[5] = -1e-4;
  const Report report = replay({load, 1, 16, 100}, at_price(4));
  load[5] = 0;
  CHECK(report.chosen.cost == Approx(replay({load, 1, 16, 100}, at_price(4)).chosen.cost));
  load[5] = -100;
  CHECK_THROWS_AS(replay({load, 1, 16, 100}, at_price(4)), std::invalid_argument);
}

TEST_CASE("bad recordings are refused", "[replay]") {
  CHECK_THROWS_AS(replay({{}, 1, 2, 3}, Options{}), std::invalid_argument);
  const std::vector<double> bad{1, std::nan("")};
  CHECK_THROWS_AS(replay({bad, 1, 1, 2}, Options{}), std::invalid_argument);
}
