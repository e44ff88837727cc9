#include "analytics/balance/fresh_loss.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <vector>

using namespace effort::balance;
using Catch::Approx;

namespace {

constexpr int period = 5;
constexpr double by_trials = 0.4;

// A program with a cycle in which every division loses by_trials.
FreshLoss cyclic(int steps) {
  FreshLoss fresh;
  for (int s = 1; s <= steps; ++s) {
    fresh.step(s % period == 0 ? 2.0 : 1.0, by_trials);
    const std::vector<TrialLoss> trials{{Predictor::last, 1, by_trials}, {Predictor::last, 2, by_trials}};
    fresh.learn(s, trials);
  }
  return fresh;
}

double at_one(const FreshLoss& fresh, int step) {
  std::vector<double> table;
  fresh.tabulate(Predictor::last, step, period, fresh.reference(period), table);
  return table[1];
}

}  // namespace

TEST_CASE("a real division counts where it loses less than trials say", "[balance]") {
  FreshLoss fresh = cyclic(60);
  REQUIRE(fresh.period() == period);
  fresh.learn_real(61, 1, 0.9, by_trials);
  CHECK(at_one(fresh, 61) == Approx(by_trials));
  fresh.learn_real(61, 1, 0.1, by_trials);
  CHECK(at_one(fresh, 61) == Approx(0.1));
  CHECK(at_one(fresh, 62) == Approx(by_trials));  // another phase
}

TEST_CASE("what real divisions once achieved is forgotten when they lose more again", "[balance]") {
  FreshLoss fresh = cyclic(60);
  fresh.learn_real(61, 1, 0.1, by_trials);
  for (int n = 0; n < 10; ++n) fresh.learn_real(61, 1, 0.9, 0.1);
  CHECK(at_one(fresh, 61) == Approx(by_trials));
}
