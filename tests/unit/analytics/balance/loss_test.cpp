#include "analytics/balance/loss.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <random>

using namespace effort::balance;
using Catch::Approx;

TEST_CASE("a curve returns the observed values, and interpolates and extrapolates them", "[balance]") {
  LossCurve curve;
  CHECK_FALSE(curve.known());
  for (int s = 0; s < 50; ++s)
    for (int a : {1, 2, 4, 8}) curve.observe(a, 0.1 * (1 + std::log2(a)));
  CHECK(curve.known());
  std::vector<double> loss;
  curve.tabulate(32, loss);
  REQUIRE(loss.size() == 33);
  CHECK(loss[1] == Approx(0.1));
  CHECK(loss[3] == Approx(0.1 * (1 + std::log2(3))));
  CHECK(loss[8] == Approx(0.4));
  CHECK(loss[32] == Approx(0.6));
  for (std::size_t a = 2; a < loss.size(); ++a) CHECK(loss[a] >= loss[a - 1]);
}

TEST_CASE("a curve never falls with the age, and forgets old losses", "[balance]") {
  LossCurve curve;
  for (int s = 0; s < 10; ++s) {
    curve.observe(1, 0.5);
    curve.observe(2, 0.1);
  }
  std::vector<double> loss;
  curve.tabulate(2, loss);
  CHECK(loss[1] == Approx(0.3));
  CHECK(loss[2] == Approx(0.3));
  for (int s = 0; s < 300; ++s) {
    curve.observe(1, 0.1);
    curve.observe(2, 0.2);
  }
  curve.tabulate(2, loss);
  CHECK(loss[1] == Approx(0.1).epsilon(0.01));
  CHECK(loss[2] == Approx(0.2).epsilon(0.01));
}

TEST_CASE("the loss that a rebalance leaves is learned: a share of it, or a floor", "[balance]") {
  const RebalanceEffect unseen;
  CHECK(unseen.after(0.5) < 0.15);
  RebalanceEffect bounded, coarse, useless;
  for (int i = 0; i < 200; ++i) {
    const double before = 0.1 + 0.2 * (i % 5);
    bounded.observe(before, 0.7 * before);
    coarse.observe(before, 0.1);
    useless.observe(before, before);
  }
  CHECK(bounded.after(0.5) == Approx(0.35).epsilon(0.15));
  CHECK(coarse.after(0.5) == Approx(0.1).margin(0.04));
  CHECK(useless.after(0.5) > 0.4);
  CHECK(bounded.uncertainty(0.5) < unseen.uncertainty(0.5));
  CHECK(bounded.after(0.0) == 0);
}

TEST_CASE("the present loss is estimated over as many steps as predict best", "[balance]") {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.1);
  LossLevel noisy, growing;
  for (int s = 0; s < 200; ++s) {
    noisy.observe(0.3 + noise(random));
    growing.observe(0.01 * s);
  }
  const LossLevel::Estimate steady = noisy.estimate(30);
  CHECK(steady.level == Approx(0.3).margin(0.06));
  CHECK(steady.error < 0.08);
  CHECK(growing.estimate(1).level == Approx(1.99).margin(0.01));
  growing.restart();
  CHECK(growing.steps() == 0);
}
