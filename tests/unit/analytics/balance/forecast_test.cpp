#include "analytics/balance/forecast.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <set>

using namespace effort::balance;
using Catch::Approx;

namespace {

double predict(const Forecast& forecast, Predictor predictor, double ahead, std::size_t column) {
  std::vector<double> out(forecast.columns());
  forecast.predict(predictor, ahead, out);
  return out[column];
}

}  // namespace

TEST_CASE("each predictor follows the course that it is made for", "[balance]") {
  Forecast forecast;
  forecast.reset(2);
  for (int s = 0; s < 60; ++s)
    forecast.observe(std::vector<double>{10.0 + s, s % 2 == 0 ? 1.0 : 3.0}, {}, StepKind::ordinary);
  CHECK(predict(forecast, Predictor::last, 1, 0) == 69);
  CHECK(predict(forecast, Predictor::trend, 1, 0) == Approx(70));
  CHECK(predict(forecast, Predictor::slow_trend, 5, 0) == Approx(74).epsilon(1e-3));
  CHECK(predict(forecast, Predictor::mean, 1, 1) == Approx(2));
  CHECK(predict(forecast, Predictor::smooth, 1, 1) == Approx(2).epsilon(0.2));
  CHECK(predict(forecast, Predictor::last, 1, 1) == 3);
}

TEST_CASE("a linear trend never predicts less than a fifth of the level", "[balance]") {
  Forecast forecast;
  forecast.reset(1);
  for (int s = 0; s < 10; ++s) forecast.observe(std::vector<double>{100.0 - 10 * s}, {}, StepKind::ordinary);
  CHECK(predict(forecast, Predictor::trend, 50, 0) > 0);
}

TEST_CASE("a peak counts only in the mean, unless it was a new level", "[balance]") {
  Forecast forecast;
  forecast.reset(1);
  const std::vector<double> low{1}, high{9};
  for (int s = 0; s < 10; ++s) forecast.observe(low, {}, StepKind::ordinary);
  forecast.observe(high, {}, StepKind::peak);
  CHECK(predict(forecast, Predictor::last, 1, 0) == 1);
  CHECK(predict(forecast, Predictor::recent, 1, 0) == 1);
  CHECK(predict(forecast, Predictor::mean, 1, 0) == Approx(19.0 / 11));
  forecast.observe(high, {}, StepKind::new_level);
  CHECK(predict(forecast, Predictor::last, 1, 0) == 9);
  CHECK(predict(forecast, Predictor::recent, 1, 0) == Approx(7));  // after two of its steps
}

TEST_CASE("loads carried over a rebalance are those of a run that was divided that way from the start", "[balance]") {
  const std::vector<double> change{2, 0.5, 0.8, 1};
  const auto load = [](int s) {
    return std::vector<double>{1.0 + 0.1 * (s % 3), 3.0 - 0.02 * s, 2.0 + 0.3 * (s % 2), 2.0};
  };
  Forecast rebalanced, from_start;
  rebalanced.reset(4);
  from_start.reset(4);
  for (int s = 0; s < 40; ++s) {
    if (s == 20) rebalanced.redistribute(change);
    std::vector<double> divided = load(s), before = load(s);
    for (std::size_t i = 0; i < change.size(); ++i) divided[i] *= change[i];
    const StepKind kind = s % 10 == 7 ? StepKind::peak : StepKind::ordinary;
    rebalanced.observe(s < 20 ? before : divided, {}, kind);
    from_start.observe(divided, {}, kind);
    if (s < 20) continue;
    for (Predictor p : {Predictor::carried_recent, Predictor::carried_smooth, Predictor::peak})
      for (std::size_t i = 0; i < change.size(); ++i)
        CHECK(predict(rebalanced, p, 1, i) == Approx(predict(from_start, p, 1, i)));
    for (const Trial& trial : rebalanced.trials()) {
      if (trial.predictor < Predictor::carried_recent) continue;
      const auto same = std::find_if(from_start.trials().begin(), from_start.trials().end(), [&](const Trial& other) {
        return other.predictor == trial.predictor && other.age == trial.age;
      });
      REQUIRE(same != from_start.trials().end());
      for (std::size_t i = 0; i < change.size(); ++i) CHECK(trial.weight[i] == Approx(same->weight[i]));
    }
  }
  CHECK(rebalanced.steps() == 20);
  rebalanced.reset(4);
  CHECK(rebalanced.trials().empty());
  CHECK_FALSE(rebalanced.knows(Predictor::carried_recent));
  CHECK_FALSE(rebalanced.knows(Predictor::peak));
}

TEST_CASE("the mean of peaks contains peaks only, not new levels", "[balance]") {
  Forecast forecast;
  forecast.reset(1);
  const std::vector<double> low{1}, high{9};
  for (int s = 0; s < 5; ++s) forecast.observe(low, {}, StepKind::ordinary);
  forecast.observe(high, {}, StepKind::peak);
  CHECK_FALSE(forecast.knows(Predictor::peak));
  forecast.observe(low, {}, StepKind::ordinary);
  REQUIRE(forecast.knows(Predictor::peak));
  CHECK(predict(forecast, Predictor::peak, 1, 0) == 9);
  const std::vector<double> higher{20};
  forecast.observe(higher, {}, StepKind::peak);
  forecast.observe(higher, {}, StepKind::new_level);
  forecast.observe(higher, {}, StepKind::ordinary);
  CHECK(predict(forecast, Predictor::peak, 1, 0) == 9);
}

TEST_CASE("work predicts loads by the rank's time per work, also after work was redistributed", "[balance]") {
  Forecast forecast;
  forecast.reset(3);
  const double slow[] = {1, 1.5, 1};
  const auto step = [&](double a, double b) {
    forecast.observe(std::vector<double>{a * slow[0], b * slow[1], 0.5 * (a * slow[0] + b * slow[1])},
                     std::vector<double>{a, b, 1}, StepKind::ordinary);
  };
  CHECK_FALSE(forecast.knows(Predictor::work));
  for (int s = 0; s < 20; ++s) step(10 + s, 5);
  CHECK(predict(forecast, Predictor::work, 1, 0) == Approx(29));
  CHECK(predict(forecast, Predictor::work, 1, 1) == Approx(7.5));
  CHECK(predict(forecast, Predictor::work_trend, 3, 0) == Approx(32).epsilon(1e-3));
  forecast.reset(3);
  CHECK_FALSE(forecast.knows(Predictor::work));
  step(20, 20);
  CHECK(predict(forecast, Predictor::work, 1, 1) == Approx(30));
  forecast.observe(std::vector<double>{1, 1, 1}, {}, StepKind::ordinary);
  CHECK_FALSE(forecast.knows(Predictor::work));
}

TEST_CASE("a rank that had hardly any work is not taken for a slow one when it gets more", "[balance]") {
  Forecast forecast;
  forecast.reset(3);
  // The second rank needs 1 for any work, and 1 per unit of work.
  const auto step = [&](double a, double b) {
    const double mean = 0.5 * (1 + a + 1 + b);
    forecast.observe(std::vector<double>{1 + a, 1 + b, mean}, std::vector<double>{a, b, mean}, StepKind::ordinary);
  };
  for (int s = 0; s < 5; ++s) step(10, 10);
  for (int s = 0; s < 1000; ++s) step(20 - 1e-3, 1e-3);
  forecast.redistribute(std::vector<double>{0.5, 10, 1});
  step(10, 10);
  CHECK(predict(forecast, Predictor::work, 1, 0) == Approx(11).epsilon(0.1));
  CHECK(predict(forecast, Predictor::work, 1, 1) == Approx(11));  // with the steps of 1e-3, it would be 10,000
}

TEST_CASE("a slow rank is known as one also if it always has little work", "[balance]") {
  Forecast forecast;
  forecast.reset(3);
  for (int s = 0; s < 50; ++s)
    forecast.observe(std::vector<double>{1.75, 0.5, 1.125}, std::vector<double>{1.75, 0.25, 1.125}, StepKind::ordinary);
  CHECK(predict(forecast, Predictor::work, 1, 1) == Approx(0.5));
}

TEST_CASE("one trial per predictor and class of ages is kept, and every age is tried eventually", "[balance]") {
  Forecast forecast;
  forecast.reset(2);
  std::set<int> ages;
  for (int s = 0; s < 600; ++s) {
    std::set<std::pair<Predictor, int>> seen;
    for (const Trial& trial : forecast.trials()) {
      CHECK(seen.insert({trial.predictor, age_class(trial.age)}).second);
      CHECK(trial.age >= 1);
      CHECK(trial.age <= oldest_age);
      ages.insert(trial.age);
    }
    forecast.observe(std::vector<double>{2.0, 1.0}, {}, StepKind::ordinary);
  }
  CHECK(ages.size() == oldest_age);
  for (const Trial& trial : forecast.trials()) CHECK(trial.weight[0] == Approx(0.5));
}

TEST_CASE("ages fall into classes of powers of two", "[balance]") {
  CHECK(age_class(1) == 0);
  CHECK(age_class(2) == 1);
  CHECK(age_class(3) == 2);
  CHECK(age_class(4) == 2);
  CHECK(age_class(5) == 3);
  CHECK(age_class(oldest_age) == n_age_classes - 1);
}
