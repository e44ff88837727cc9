// Estimates from sampled calls: unbiased for the region and for the one around it, whatever the pattern of the calls.
#include "runtime/measure/boundary.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

using namespace effort::measure;

namespace {

// A clock that the test sets, as a counter at every boundary: the correct bookings are then known exactly.
std::int64_t now = 0;

class TestReader final : public CounterReader {
 public:
  void read(std::int64_t* values) noexcept override { values[0] = now; }
};
class TestSource final : public MetricSource {
 public:
  const std::vector<Counter>& counters() const override { return counters_; }
  std::unique_ptr<CounterReader> open(bool) override { return std::make_unique<TestReader>(); }

 private:
  std::vector<Counter> counters_{{"cpu_time", "1"}};
};

constexpr std::uint32_t main_loop = 1, other_loop = 2, hot = 3, child = 4, warm = 5, n_regions = 5;

struct Run {
  std::map<std::uint32_t, double> truth, estimate;
  std::map<std::uint32_t, std::int64_t> calls, counted;
};

/// Two loops around a hot region whose calls vary by a factor of hundreds with a period of four, with a child in some,
/// and a warm region around some of them.
Run simulate(std::uint64_t seed, std::array<std::uint32_t, n_regions + 1> periods) {
  SourceSet counters;
  counters.add(std::make_shared<TestSource>());
  auto slot = std::make_unique<ThreadSlot>(static_cast<std::uint32_t>(seed));
  now = 0;
  slot->prepare(1, n_regions, {&counters, nullptr, true});
  auto plan = std::make_unique<SamplingPlan>(n_regions + 1);
  std::mt19937_64 random(seed);
  for (std::uint32_t r = 0; r <= n_regions; ++r)
    plan->calls[r] = plan->apart[r] = {periods[r], 0, static_cast<std::uint32_t>(random() % periods[r])};
  slot->sampling.offer(std::move(plan));
  slot->ask(resample);
  std::mt19937_64 lengths(7);  // the same run for every seed of the sampling
  Run run;
  std::vector<std::uint32_t> open{outside};
  auto pass = [&](double mean) {
    const std::int64_t d = 1 + static_cast<std::int64_t>(std::exponential_distribution<>(1 / mean)(lengths));
    now += d;
    run.truth[open.back()] += static_cast<double>(d);
  };
  auto enter = [&](std::uint32_t r) {
    open_region(*slot, r);
    open.push_back(r);
    ++run.calls[r];
  };
  auto leave = [&] {
    REQUIRE(close_region(*slot, open.back()));
    open.pop_back();
  };
  for (int i = 0; i < 400; ++i) {
    enter(i % 10 == 0 ? other_loop : main_loop);
    pass(30);
    const bool in_warm = i % 3 == 0;
    if (in_warm) enter(warm);
    for (int call = 0; call < 40; ++call) {
      enter(hot);
      pass(call % 4 == 0 ? 400 : 2);
      if (call % 8 == 1) {
        enter(child);
        pass(50);
        leave();
        pass(3);
      }
      leave();
      pass(1);
    }
    if (in_warm) leave();
    leave();
  }
  settle(*slot);
  REQUIRE(slot->depth == 0);
  REQUIRE_FALSE(slot->sampling.special());
  for (std::uint32_t r = 0; r <= n_regions; ++r) {
    run.estimate[r] = static_cast<double>(slot->counters.total(r, 0));
    run.counted[r] = slot->cells.load()[r].begins.load() & ~sampled_sign;
  }
  return run;
}

double sum(const std::map<std::uint32_t, double>& values) {
  double all = 0;
  for (const auto& [region, value] : values) all += value;
  return all;
}

/// Many runs that differ only in the sampled calls: the mean of the estimates is as near to the truth as their scatter
/// allows.
void expect_unbiased(std::array<std::uint32_t, n_regions + 1> periods) {
  constexpr int runs = 400;
  std::map<std::uint32_t, double> mean, square;
  Run last;
  for (int i = 0; i < runs; ++i) {
    last = simulate(static_cast<std::uint64_t>(i) + 1, periods);
    // Whatever was sampled: nothing is lost or counted twice, and calls are counted exactly.
    REQUIRE(sum(last.estimate) == sum(last.truth));
    for (const auto& [region, calls] : last.calls) REQUIRE(last.counted[region] == calls);
    for (const auto& [region, value] : last.estimate) {
      const double error = value - last.truth[region];
      mean[region] += error / runs;
      square[region] += error * error / runs;
    }
  }
  for (const auto& [region, bias] : mean) {
    const double deviation = std::sqrt(square[region] / runs);
    INFO("region " << region << ": true " << last.truth[region] << ", bias " << bias << ", deviation of the mean "
                   << deviation);
    CHECK(std::abs(bias) <= 4 * deviation + 1e-9);
  }
  // The estimate is good as well as unbiased: it scatters at most as much as so many independent calls would.
  if (periods[hot] > 1) {
    const double calls = 16000, per_call = last.truth[hot] / calls;
    CHECK(std::sqrt(square[hot]) < 1.2 * std::sqrt(calls * periods[hot]) * 2.5 * per_call);
    CHECK(square[hot] > 0);
  }
}

}  // namespace

TEST_CASE("without sampling everything is exact") {
  const Run run = simulate(1, {1, 1, 1, 1, 1, 1});
  for (const auto& [region, value] : run.truth) CHECK(run.estimate.at(region) == value);
}

TEST_CASE("a sampled region and its surroundings are estimated without bias") { expect_unbiased({1, 1, 1, 4, 1, 1}); }
TEST_CASE("a period that is in step with the application's does no harm") { expect_unbiased({1, 1, 1, 64, 1, 1}); }
TEST_CASE("sampled regions within sampled regions") { expect_unbiased({1, 1, 1, 16, 8, 1}); }
TEST_CASE("all regions sampled") { expect_unbiased({1, 2, 4, 32, 16, 8}); }

TEST_CASE("what one call costs beyond a limit is not assumed of the calls that it represents") {
  SourceSet counters;
  counters.add(std::make_shared<TestSource>());
  auto slot = std::make_unique<ThreadSlot>();
  now = 0;
  slot->prepare(1, n_regions, {&counters, nullptr, true});
  auto offered = std::make_unique<SamplingPlan>(n_regions + 1);
  offered->load = 0;
  offered->calls[hot].period = 8;
  offered->apart[hot] = {4, 0, 1, 100};
  const SamplingPlan& plan = slot->sampling.offer(std::move(offered));
  slot->ask(resample);
  const auto call = [&](std::int64_t duration, bool nests) {
    open_region(*slot, hot);
    now += duration;
    if (nests) {
      open_region(*slot, child);
      now += 5;
      close_region(*slot, child);
      now += duration;
    }
    close_region(*slot, hot);
  };
  // Without a registry, all regions make the load, but time outside of regions does not.  The second call is timed.
  for (int i = 0; i < 4; ++i) call(30, false);
  CHECK(slot->counters.total(hot, 0) == 4 * 30);
  while (plan.scatter[hot].calls == 1) call(70, true);  // 70 in full, and 30 of the 70 after the nested region
  CHECK(slot->counters.total(hot, 0) == 4 * 30 + 2 * 70 + 3 * 100);
  CHECK(plan.scatter[hot].sum == 30 + 140);
  CHECK(plan.scatter[hot].square == 30 * 30 + 140 * 140);
  CHECK(plan.scatter[hot].alike == 0);
  settle(*slot);
  CHECK(slot->counters.total(outside, 0) + slot->counters.total(hot, 0) + slot->counters.total(child, 0) == now);
}

TEST_CASE("a plan that its thread has not adopted yet may be replaced") {
  auto slot = std::make_unique<ThreadSlot>();
  for (const std::uint32_t period : {2u, 4u, 8u}) {
    auto plan = std::make_unique<SamplingPlan>(2);
    plan->calls[1].period = period;
    slot->sampling.offer(std::move(plan));
    if (period != 4) slot->sampling.take_over();
  }
  CHECK(slot->sampling.samples(1));
}

TEST_CASE("periods change while regions are open") {
  SourceSet counters;
  counters.add(std::make_shared<TestSource>());
  auto slot = std::make_unique<ThreadSlot>();
  now = 0;
  slot->prepare(1, n_regions, {&counters, nullptr, true});
  std::mt19937 random(3);
  std::vector<std::uint32_t> open;
  for (int i = 0; i < 20000; ++i) {
    if (i % 50 == 0) {
      auto plan = std::make_unique<SamplingPlan>(n_regions + 1);
      for (std::uint32_t r = 1; r <= n_regions; ++r)
        plan->calls[r].period = plan->apart[r].period = 1u << (random() % 6);
      slot->sampling.offer(std::move(plan));
      slot->ask(resample);
    }
    now += static_cast<std::int64_t>(random() % 100);
    if (open.size() < 8 && random() % 2 == 0) {
      open.push_back(1 + random() % n_regions);
      open_region(*slot, open.back());
    } else if (!open.empty()) {
      REQUIRE(close_region(*slot, open.back()));
      open.pop_back();
    }
  }
  while (!open.empty()) {
    REQUIRE(close_region(*slot, open.back()));
    open.pop_back();
  }
  settle(*slot);
  std::int64_t all = 0;
  for (std::uint32_t r = 0; r <= n_regions; ++r) all += slot->counters.total(r, 0);
  CHECK(all == now);
  CHECK_FALSE(slot->sampling.special());
}

TEST_CASE("a rebalance is priced exactly, whatever is sampled and whatever is open around it") {
  SourceSet counters;
  counters.add(std::make_shared<TestSource>());
  const auto shared = std::make_shared<Registry>();
  const std::shared_ptr<const Registry> registry = shared;
  Registry& names = *shared;
  const std::uint32_t solve = names.region("solve", Kind::compute).id, halo = names.region("halo", Kind::comm).id;
  for (const std::uint32_t around : {outside, solve, halo}) {
    auto slot = std::make_unique<ThreadSlot>();
    now = 0;
    slot->prepare(1, names.n_regions(), {&counters, nullptr, true, &registry});
    auto plan = std::make_unique<SamplingPlan>(names.n_regions() + 1);
    for (const std::uint32_t r : {solve, halo}) plan->calls[r] = plan->apart[r] = {64, 0, 63};
    slot->sampling.offer(std::move(plan));
    slot->ask(resample);
    for (int call = 0; call < 70; ++call) {  // the 64th stands for all of them, and the next ones for none
      open_region(*slot, halo);
      now += 5;
      close_region(*slot, halo);
    }
    if (around != outside) open_region(*slot, around);
    now += 1000;
    const Pricing before = open_price(*slot);
    CHECK_FALSE(before.open);
    for (int call = 0; call < 100; ++call) {
      now += 3;
      open_region(*slot, solve);
      now += call;
      open_region(*slot, halo);
      now += 7;
      close_region(*slot, halo);
      close_region(*slot, solve);
      now += 2;
    }
    const Pricing priced = close_price(*slot, before);
    CHECK(priced.open);
    CHECK(priced.marked);
    CHECK(priced.whole.cpu_ns == 100 * 12 + 99 * 50);
    CHECK(priced.waited.cpu_ns == 100 * 7);
    CHECK_FALSE(slot->pricing.open);
    now += 1000;
    if (around != outside) CHECK(close_region(*slot, around));
    settle(*slot);
    CHECK_FALSE(slot->sampling.special());
    std::int64_t all = 0;
    for (std::uint32_t r = 0; r <= names.n_regions(); ++r) all += slot->counters.total(r, 0);
    // Computing in no region that began in the rebalance is part of the price alone.
    CHECK(all == now - (around == halo ? 0 : 100 * (3 + 2)));
  }
}

TEST_CASE("a region around a rebalance may end in it") {
  SourceSet counters;
  counters.add(std::make_shared<TestSource>());
  const auto shared = std::make_shared<Registry>();
  const std::shared_ptr<const Registry> registry = shared;
  Registry& names = *shared;
  const std::uint32_t solve = names.region("solve", Kind::compute).id, halo = names.region("halo", Kind::comm).id;
  auto slot = std::make_unique<ThreadSlot>();
  now = 0;
  slot->prepare(1, names.n_regions(), {&counters, nullptr, true, &registry});
  open_region(*slot, solve);
  open_region(*slot, halo);
  const Pricing before = open_price(*slot);
  now += 1;
  CHECK(close_region(*slot, halo));
  now += 10;
  open_region(*slot, halo);  // begun inside
  now += 100;
  CHECK(close_region(*slot, halo));
  CHECK(close_region(*slot, solve));
  now += 1000;
  const Pricing priced = close_price(*slot, before);
  CHECK(priced.whole.cpu_ns == 1111);
  CHECK(priced.waited.cpu_ns == 100);
}
