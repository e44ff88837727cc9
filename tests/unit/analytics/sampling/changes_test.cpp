// Samples that are drawn in advance keep their promise although loads change.
#include "analytics/sampling/changes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

using namespace effort::sampling;

namespace {

constexpr Accuracy accuracy{0.90, 0.08};
constexpr std::size_t windows = 60, update = 4;

using Loads = std::vector<double>;
using Shape = std::function<Loads(std::size_t window)>;

/// Whether the mean of the drawn ranks, weighted by part, is within the bound.
bool is_good(const PlannedSample& plan, const std::vector<std::int32_t>& drawn, const Loads& load) {
  double sum = 0;
  for (const std::int32_t r : drawn)
    sum += load[static_cast<std::size_t>(r)] / plan.probability(static_cast<std::size_t>(r));
  const double truth = std::accumulate(load.begin(), load.end(), 0.0);
  return !drawn.empty() && std::abs(sum - truth) <= accuracy.error * truth;
}

/// The share of windows after the first ones in which a sample is good that was drawn up to `update` windows before.
/// Strata are halves of the ranks by load.
double share_of_subsets(const Shape& shape, bool allowing, double& ranks) {
  Changes changes;
  PlannedSample plan;
  std::vector<std::int32_t> drawn;
  int good = 0;
  ranks = 0;
  for (std::size_t w = 0; w < windows; ++w) {
    const Loads load = shape(w);
    const Target target{load, accuracy};
    if (w > update) good += is_good(plan, drawn, load);
    if (w > update) ranks += static_cast<double>(drawn.size()) / (windows - update - 1);
    changes.add(plan, target);
    if (w % update != 0) continue;
    Loads sorted = load;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::int32_t> stratum;
    for (const double x : load) stratum.push_back(x > sorted[sorted.size() / 2] ? 1 : 0);
    plan = plan_sample({&target, 1}, stratum, 2, {});
    changes.count_from(plan, target);
    changes.start();
    if (allowing) changes.allow_for(plan, target);
    drawn = draw(plan, load.size(), w);
  }
  return static_cast<double>(good) / (windows - update - 1);
}

Loads even(std::size_t n, std::size_t window, double spread) {
  std::mt19937 random(static_cast<unsigned>(window + 1));
  std::normal_distribution<double> noise(1.0, spread);
  Loads out(n);
  for (double& x : out) x = noise(random);
  return out;
}

/// Every fiftieth rank takes ten times as long, others in each window.
Loads stragglers(std::size_t n, std::size_t window) {
  Loads out(n, 1.0);
  for (std::size_t r = window * 7 % 50; r < n; r += 50) out[r] = 10;
  return out;
}

/// One rank has a fifth of all load, another one in each window.
Loads one_straggler(std::size_t n, std::size_t window) {
  Loads out(n, 1.0);
  out[window * 7 % n] = static_cast<double>(n) / 4;
  return out;
}

/// Of many independent draws of one window.
double share_of_independent(double probability, const Loads& load) {
  constexpr int draws = 4000;
  int good = 0;
  const auto n = static_cast<std::int64_t>(load.size());
  for (int i = 0; i < draws; ++i) {
    std::vector<std::int32_t> drawn;
    for (std::int32_t r = 0; r < n; ++r)
      if (is_drawn_independently(r, probability, static_cast<std::uint64_t>(i))) drawn.push_back(r);
    good += is_good({{}, {n}, {static_cast<std::int64_t>(drawn.size())}}, drawn, load);
  }
  return static_cast<double>(good) / draws;
}

}  // namespace

TEST_CASE("a sample that stays for some windows allows for ranks that stand out later") {
  const auto shape = [](std::size_t w) { return stragglers(1000, w); };
  double ranks = 0;
  CHECK(share_of_subsets(shape, false, ranks) < 0.2);
  CHECK(share_of_subsets(shape, true, ranks) >= accuracy.confidence - 0.1);
  CHECK(ranks < 700);
}

TEST_CASE("a sample that stays for some windows allows for a single rank that stands out later") {
  const auto shape = [](std::size_t w) { return one_straggler(200, w); };
  double ranks = 0;
  CHECK(share_of_subsets(shape, false, ranks) < 0.3);
  CHECK(share_of_subsets(shape, true, ranks) >= accuracy.confidence - 0.15);
}

TEST_CASE("a sample for loads that stay as they are remains small") {
  const auto shape = [](std::size_t w) { return even(1000, w, 0.05); };
  double before = 0, after = 0;
  CHECK(share_of_subsets(shape, false, before) >= accuracy.confidence);
  CHECK(share_of_subsets(shape, true, after) >= accuracy.confidence);
  CHECK(after <= before + 1);
}

TEST_CASE("ranks that are drawn independently are enough even if their number happens to be small") {
  const Loads load = even(1000, 3, 0.05);
  const Target target{load, accuracy};
  const double plan = independent_probability({&target, 1}, load.size(), {});
  CHECK(share_of_independent(plan, load) < 0.88);  // of two expected ranks, sometimes none is drawn
  const double allowed = Changes().allow_for(plan, target);
  CHECK(share_of_independent(allowed, load) >= accuracy.confidence - 0.015);
  CHECK(allowed < 2 * plan);
}

TEST_CASE("a rank with a tenth of the load is drawn as often as promised") {
  Loads load = even(1000, 5, 0.02);
  load[333] = 110;
  const Target target{load, accuracy};
  const double plan = independent_probability({&target, 1}, load.size(), {});
  CHECK(share_of_independent(plan, load) < 0.88);
  CHECK(share_of_independent(Changes().allow_for(plan, target), load) >= accuracy.confidence - 0.015);
}

TEST_CASE("a window that a sample missed makes the next ones larger for a while") {
  const Loads usual = even(1000, 1, 0.2);
  const Target target{usual, accuracy};
  const PlannedSample plan = plan_sample({&target, 1}, std::vector<std::int32_t>(usual.size()), 1, {});
  Changes changes;
  changes.count_from(plan, target);
  changes.start();
  for (int w = 0; w < 40; ++w) changes.add(plan, target);
  const auto size = [&] {
    PlannedSample larger = plan;
    changes.allow_for(larger, target);
    return larger.total();
  };
  const std::int64_t before = size();
  const Loads odd = stragglers(1000, 2);
  changes.add(plan, Target{odd, accuracy});
  const std::int64_t missed = size();
  CHECK(missed > before);
  PlannedSample all = plan;
  all.size = all.population;
  for (int w = 0; w < 40; ++w) changes.add(all, target);
  CHECK(size() < missed);
}

TEST_CASE("a long time without a good sample is soon forgotten") {
  const Loads usual = even(1000, 1, 0.2), odd = stragglers(1000, 2);
  const Target target{usual, accuracy};
  const PlannedSample plan = plan_sample({&target, 1}, std::vector<std::int32_t>(usual.size()), 1, {});
  PlannedSample all = plan;
  all.size = all.population;
  Changes changes;
  changes.count_from(plan, target);
  changes.start();
  for (int w = 0; w < 1000; ++w) changes.add(plan, Target{odd, accuracy});
  const auto size = [&] {
    PlannedSample larger = plan;
    changes.allow_for(larger, target);
    return larger.total();
  };
  CHECK(size() > plan.total());
  for (int w = 0; w < 100; ++w) changes.add(all, target);
  CHECK(size() == plan.total());
}

TEST_CASE("loads of zero, one rank and alike ranks need no more than planned") {
  for (const Loads& load : {Loads(8, 0.0), Loads(1, 3.0), Loads(100, 1.0)}) {
    const Target target{load, accuracy};
    PlannedSample plan = plan_sample({&target, 1}, std::vector<std::int32_t>(load.size()), 1, {});
    const std::int64_t before = plan.total();
    Changes changes;
    changes.count_from(plan, target);
    changes.start();
    for (int w = 0; w < 3; ++w) changes.add(plan, target);
    changes.allow_for(plan, target);
    CHECK(plan.total() == before);
    CHECK(changes.size() == 3);
  }
}
