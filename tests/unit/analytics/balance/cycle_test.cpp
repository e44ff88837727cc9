#include "analytics/balance/cycle.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <random>

using namespace effort::balance;

namespace {

// The period found if every `every`-th step takes longer, under noise; losses are not known.
int period_found(int every, double longer, double noise, int steps) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal(0, noise);
  Cycle cycle;
  for (int s = 0; s < steps; ++s) cycle.observe((s % every == 0 ? longer : 1) * (1 + normal(random)), -1);
  return cycle.period();
}

}  // namespace

TEST_CASE("the period of a program's steps is found in the mean load", "[balance]") {
  for (int every : {2, 3, 5, 10, 24}) CHECK(period_found(every, 1.8, 0.03, 5 * every + 20) == every);
}

TEST_CASE("the period is found in the loss of a division one step old", "[balance]") {
  Cycle cycle;
  for (int s = 0; s < 40; ++s) cycle.observe(1, s % 5 == 1 ? 1.2 : 0.1 + 0.01 * (s % 3));
  CHECK(cycle.period() == 5);
}

TEST_CASE("a period is found after three repetitions although the work grows", "[balance]") {
  // A code that refines its mesh every five steps, on a noisy machine.
  int found = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, 1);
    Cycle cycle;
    double cells = 1;
    for (int s = 0; s < 15; ++s) {
      const bool refines = s % 5 == 4;
      cycle.observe(cells * (refines ? 1.8 : 1) * (1 + 0.05 * normal(random)), 0.2 + 0.1 * std::fabs(normal(random)));
      if (refines) cells *= 1.3;
    }
    found += cycle.period() == 5 ? 1 : 0;
  }
  CHECK(found >= 19);
}

TEST_CASE("a period is found although the loss is not always known", "[balance]") {
  Cycle cycle;
  for (int s = 0; s < 60; ++s) cycle.observe(1, s % 3 == 2 ? -1 : s % 5 == 1 ? 1.2 : 0.1 + 0.01 * (s % 7));
  CHECK(cycle.period() == 5);
}

TEST_CASE("noise and a drift have no period", "[balance]") {
  for (double noise : {0.01, 0.1}) CHECK(period_found(1, 1, noise, 300) == 0);
  Cycle cycle;
  for (int s = 0; s < 300; ++s) cycle.observe(1 + 0.01 * s, 0.1 + 0.001 * s);
  CHECK(cycle.period() == 0);
}

TEST_CASE("a period that ends is forgotten", "[balance]") {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 0.05);
  Cycle cycle;
  for (int s = 0; s < 100; ++s) cycle.observe(s % 5 == 0 ? 2 : 1, -1);
  CHECK(cycle.period() == 5);
  for (int s = 0; s < 300; ++s) cycle.observe(1 + normal(random), -1);
  CHECK(cycle.period() == 0);
}

TEST_CASE("the period of a very long run is still found", "[balance]") {
  Cycle cycle;
  for (int s = 0; s < 20000; ++s) cycle.observe(s % 4 == 0 ? 2 : 1, 0.1);
  CHECK(cycle.period() == 4);
  for (int s = 0; s < 200; ++s) cycle.observe(s % 7 == 0 ? 2 : 1, 0.1);
  CHECK(cycle.period() == 7);
}

TEST_CASE("a period is found in a loss that was unknown for a very long time", "[balance]") {
  Cycle cycle;
  const auto loss = [](int s) { return s % 5 == 1 ? 1.2 : 0.1 + 0.01 * (s % 3); };
  for (int s = 0; s < 40; ++s) cycle.observe(1, loss(s));
  for (int s = 40; s < 60000; ++s) cycle.observe(1, -1);
  for (int s = 60000; s < 60100; ++s) cycle.observe(1, loss(s));
  CHECK(cycle.period() == 5);
}
