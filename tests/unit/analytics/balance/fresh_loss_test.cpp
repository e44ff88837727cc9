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
    fresh.learn(s, trials, 0);
  }
  return fresh;
}

// A program whose work moves at the end of every fifth step: a division made before that step loses 0.8 in the next.
FreshLoss moving(int steps) {
  FreshLoss fresh;
  for (int s = 1; s <= steps; ++s) {
    const double loss = s % period == 1 ? 0.8 : 0.05;
    fresh.step(1, loss);
    const std::vector<TrialLoss> trials{{Predictor::last, 1, loss}};
    fresh.learn(s, trials, 0);
  }
  return fresh;
}

double at_one(const FreshLoss& fresh, int step) {
  std::vector<double> table;
  fresh.tabulate(Predictor::last, step, period, fresh.reference(period), table);
  return table[1];
}

}  // namespace

TEST_CASE("a real division counts if it loses less than trials say", "[balance]") {
  FreshLoss fresh = cyclic(60);
  REQUIRE(fresh.period() == period);
  fresh.learn_real(Predictor::last, 61, 1, 0.9, by_trials);
  CHECK(at_one(fresh, 61) == Approx(by_trials));
  fresh.learn_real(Predictor::last, 61, 1, 0.1, by_trials);
  CHECK(at_one(fresh, 61) == Approx(0.1));
  CHECK(at_one(fresh, 62) == Approx(by_trials));  // another phase
}

TEST_CASE("good results of real divisions are forgotten when they lose more again", "[balance]") {
  FreshLoss fresh = cyclic(60);
  fresh.learn_real(Predictor::last, 61, 1, 0.1, by_trials);
  for (int n = 0; n < 10; ++n) fresh.learn_real(Predictor::last, 61, 1, 0.9, 0.1);
  CHECK(at_one(fresh, 61) == Approx(by_trials));
}

TEST_CASE("a division before the work moves is tried once, and remembered if it fits the new work", "[balance]") {
  FreshLoss fresh = moving(60);
  REQUIRE(fresh.period() == period);
  for (int s = 61; s <= 64; ++s) CHECK(fresh.trial_gain(Predictor::last, s) == 0);
  const double now = at_one(fresh, 65), later = at_one(fresh, 66);  // shrunk towards the mean over all phases
  CHECK(now > 0.7);
  CHECK(fresh.trial_gain(Predictor::last, 65) == Approx(0.5 * (now - later)));
  CHECK(fresh.may_anticipate(Predictor::last, 65));
  fresh.learn_real(Predictor::last, 65, 1, 0.06, 0.8);
  CHECK(fresh.trial_gain(Predictor::last, 65) == 0);
  CHECK(fresh.may_anticipate(Predictor::last, 70));
  CHECK(at_one(fresh, 70) == Approx(0.06));
  // A trial that begins with such a division does not show the loss without it.
  fresh.learn(66, std::vector<TrialLoss>{{Predictor::last, 1, 0.06}}, 65);
  fresh.learn_real(Predictor::last, 70, 1, 0.9, 0.06);
  CHECK(at_one(fresh, 75) == Approx(0.48));  // the mean of 0.06 and 0.9, and no longer that of the phase after it
  CHECK_FALSE(fresh.may_anticipate(Predictor::last, 75));
}

TEST_CASE("every failed trial doubles the time to the next", "[balance]") {
  FreshLoss fresh = moving(60);
  fresh.learn_real(Predictor::last, 65, 1, 0.7, 0.8);
  CHECK(at_one(fresh, 65) == Approx(0.7));
  for (int s = 66; s <= 100; ++s) CHECK(fresh.trial_gain(Predictor::last, s) == 0);
  CHECK_FALSE(fresh.may_anticipate(Predictor::last, 70));
}
