// Samples of groups and of several quantities, and draws that a rank makes on its own.
#include "analytics/sampling/planned_sample.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace effort::sampling;

namespace {

std::vector<std::int32_t> range(std::int32_t first, std::int32_t last) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(last + 1 - first));
  std::iota(out.begin(), out.end(), first);
  return out;
}

std::vector<double> values_of(int n, double spread, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(1.0, spread);
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back(std::max(0.0, noise(random)));
  return out;
}

double mean(const std::vector<double>& values, std::int32_t first, std::int32_t last) {
  return std::accumulate(values.begin() + first, values.begin() + last + 1, 0.0) / (last + 1 - first);
}

/// The mean over the ranks first..last as the sample estimates it.
double estimate(const PlannedSample& plan, const std::vector<std::int32_t>& drawn, const std::vector<double>& values,
                std::int32_t first, std::int32_t last) {
  double sum = 0;
  for (const std::int32_t r : drawn)
    if (r >= first && r <= last)
      sum += values[static_cast<std::size_t>(r)] / plan.probability(static_cast<std::size_t>(r));
  return sum / (last + 1 - first);
}

/// At least the promised share of draws is within the bound, less three standard deviations of a binomial count.
void check_share(int good, int draws, double confidence) {
  CHECK(static_cast<double>(good) / draws >= confidence - 3 * std::sqrt(confidence * (1 - confidence) / draws));
}

}  // namespace

TEST_CASE("the example of figure 4.5: one group of its own accuracy, one of a fixed size with pinned ranks") {
  constexpr int n = 300;
  const std::vector<double> values = values_of(n, 0.25, 3);
  const std::vector<std::int32_t> stratum(n, 0);
  std::vector<Group> groups(2);
  groups[0] = {range(0, 127), {}, {0.90, 0.03}, 0};
  groups[1] = {range(128, 255), range(128, 137), {}, 30};
  const Target load{values, {0.90, 0.08}};
  const PlannedSample plan = plan_sample(std::span(&load, 1), stratum, 1, groups);
  CHECK(plan.population == std::vector<std::int64_t>{128, 0, 118, 10, 44});
  CHECK(plan.size[2] == 20);
  CHECK(plan.size[3] == 10);
  CHECK(plan.size[4] >= 2);  // the ranks of no group are sampled, too
  CHECK(plan.size[4] < 44);

  constexpr int draws = 400;
  int good = 0;
  double sum = 0;
  for (std::uint64_t w = 0; w < draws; ++w) {
    const std::vector<std::int32_t> drawn = draw(plan, n, w);
    REQUIRE(std::is_sorted(drawn.begin(), drawn.end()));
    const auto in = [&](std::int32_t first, std::int32_t last) {
      return std::count_if(drawn.begin(), drawn.end(), [&](std::int32_t r) { return r >= first && r <= last; });
    };
    REQUIRE(in(128, 255) == 30);
    REQUIRE(in(128, 137) == 10);
    good += std::fabs(estimate(plan, drawn, values, 0, 127) / mean(values, 0, 127) - 1) <= 0.03;
    sum += estimate(plan, drawn, values, 0, n - 1);
  }
  check_share(good, draws, 0.90);
  CHECK(std::fabs(sum / draws / mean(values, 0, n - 1) - 1) < 0.01);
}

TEST_CASE("pinned members of an adaptive group are drawn in addition, and the group's mean is as accurate as asked") {
  constexpr int n = 256;
  const std::vector<double> values = values_of(n, 0.4, 5);
  const std::vector<std::int32_t> stratum(n, 0);
  const std::vector<Group> groups{{range(0, n - 1), {3, 4, 250}, {0.95, 0.05}, 0}};
  const Target load{values, {}};
  const PlannedSample plan = plan_sample(std::span(&load, 1), stratum, 1, groups);
  constexpr int draws = 400;
  int good = 0;
  for (std::uint64_t w = 0; w < draws; ++w) {
    const std::vector<std::int32_t> drawn = draw(plan, n, w);
    for (const std::int32_t pinned : {3, 4, 250}) REQUIRE(std::binary_search(drawn.begin(), drawn.end(), pinned));
    good += std::fabs(estimate(plan, drawn, values, 0, n - 1) / mean(values, 0, n - 1) - 1) <= 0.05;
  }
  check_share(good, draws, 0.95);
  CHECK(plan.total() < n / 2 + 50);
}

TEST_CASE("members outside the run are ignored, and an empty group asks for nothing") {
  const std::vector<double> values = values_of(8, 0.1, 1);
  const std::vector<std::int32_t> stratum(8, 0);
  const std::vector<Group> groups{{range(100, 120), {100}, {}, 5}, {range(4, 20), {}, {}, 50}};
  const Target load{values, {}};
  const PlannedSample plan = plan_sample(std::span(&load, 1), stratum, 1, groups);
  CHECK(plan.population == std::vector<std::int64_t>{0, 0, 4, 0, 4});
  CHECK(plan.size[0] + plan.size[1] + plan.size[3] == 0);
  CHECK(plan.size[2] == 4);
  CHECK(plan.size[4] >= 2);
  CHECK(reached(plan, load).error >= 0);
}

TEST_CASE("the sample grows until all targets are as accurate as asked for") {
  constexpr int n = 1024;
  const std::vector<double> calm = values_of(n, 0.05, 1), restless = values_of(n, 0.6, 2), zero(n, 0.0);
  std::vector<std::int32_t> stratum;
  for (int r = 0; r < n; ++r) stratum.push_back(r % 3);
  const std::vector<Target> targets{{calm, {0.90, 0.08}}, {restless, {0.95, 0.05}}, {zero, {0.99, 0.01}}};
  const PlannedSample few = plan_sample(std::span(targets).first(1), stratum, 3, {});
  const PlannedSample more = plan_sample(targets, stratum, 3, {});
  CHECK(reached(few, targets[1]).error > 0.05);
  CHECK(reached(more, targets[1]).error <= 0.05 * (1 + 1e-9));
  CHECK(reached(more, targets[0]).error <= 0.08);
  CHECK(more.total() > few.total());
  CHECK(more.total() < n);
}

TEST_CASE("a sample that does not fit is made smaller, or omitted") {
  PlannedSample s{{}, {1000}, {100}};
  shrink(s, 40);
  CHECK(s.total() <= 40);
  CHECK(s.total() > 30);
  s = {{0, 0, 0, 1, 1, 1}, {3, 3}, {3, 3}};
  shrink(s, 4);
  CHECK(s.size == std::vector<std::int64_t>{2, 2});
  shrink(s, 3);
  CHECK(s.total() == 0);
  CHECK(reached(s, {std::vector<double>(6, 1.0), {}}).error == -1);
}

TEST_CASE("a rank that draws on its own is drawn as often as it should be, independently of others and windows") {
  constexpr int ranks = 50, windows = 400;
  constexpr double p = 0.2;
  int drawn = 0, twice = 0, with_neighbour = 0;
  for (int w = 0; w < windows; ++w)
    for (int r = 0; r < ranks; ++r) {
      const bool now = is_drawn_independently(r, p, static_cast<std::uint64_t>(w));
      drawn += now;
      twice += now && is_drawn_independently(r, p, static_cast<std::uint64_t>(w) + 1);
      with_neighbour += now && is_drawn_independently(r + 1, p, static_cast<std::uint64_t>(w));
    }
  constexpr double n = ranks * windows;
  const auto near = [](int count, double expected) {  // five standard deviations
    return std::fabs(count - n * expected) < 5 * std::sqrt(n * expected * (1 - expected));
  };
  CHECK(near(drawn, p));
  CHECK(near(twice, p * p));
  CHECK(near(with_neighbour, p * p));
  CHECK(is_drawn_independently(7, 1.0, 3));
  CHECK_FALSE(is_drawn_independently(7, 0.0, 3));
}

TEST_CASE("ranks that draw on their own keep the promise although strata would make the sample small") {
  constexpr int n = 2000, draws = 1000;
  const Accuracy accuracy{0.90, 0.08};
  std::vector<double> values = values_of(n, 0.02, 3);
  for (int r = 0; r < n; r += 2) values[static_cast<std::size_t>(r)] *= 3;
  const Target target{values, accuracy};
  const double each = independent_probability({&target, 1}, n, {});
  int good = 0;
  for (int window = 0; window < draws; ++window) {
    double sum = 0;
    int drawn = 0;
    for (std::int32_t r = 0; r < n; ++r) {
      if (!is_drawn_independently(r, each, static_cast<std::uint64_t>(window))) continue;
      sum += values[static_cast<std::size_t>(r)];
      ++drawn;
    }
    const double truth = mean(values, 0, n - 1);
    good += drawn > 0 && std::abs(sum / drawn - truth) <= accuracy.error * truth ? 1 : 0;
  }
  check_share(good, draws, accuracy.confidence);
  CHECK(each < 0.2);
}
