#include "analytics/balance/predictor.hpp"
#include "analytics/balance/spikes.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <functional>

using namespace effort::balance;
using Catch::Approx;

namespace {

// Feeds a series of window means and returns the predictor that is chosen in the end.
Predictor chosen(const std::function<double(int)>& series, int windows = 12) {
  Forecaster forecaster;
  PredictorChoice choice;
  forecaster.reset(1, 1);
  choice.reset(1);
  for (int w = 0; w < windows; ++w) {
    const double mean[1] = {series(w)};
    if (w > 0) {
      double error[n_predictors];
      for (int p = 0; p < n_predictors; ++p) {
        double out[1];
        forecaster.predict(0, static_cast<Predictor>(p), 1.0, {10, 0}, out);
        error[p] = out[0] > mean[0] ? out[0] - mean[0] : mean[0] - out[0];
      }
      choice.observe(error, mean);
    }
    forecaster.observe(mean);
  }
  return choice.of(0);
}

}  // namespace

TEST_CASE("the best predictor of a known series is chosen", "[balance]") {
  CHECK(chosen([](int) { return 1.0; }) == Predictor::persistence);
  CHECK(chosen([](int w) { return 1.0 + 0.5 * w; }) == Predictor::trend);
  CHECK(chosen([](int w) { return w < 6 ? 1.0 : 4.0; }) == Predictor::persistence);
  const Predictor alternating = chosen([](int w) { return w % 2 ? 3.0 : 1.0; });
  CHECK((alternating == Predictor::median || alternating == Predictor::ewma || alternating == Predictor::trend));
}

TEST_CASE("steps of regular distance are found and foretold", "[balance]") {
  SpikeFinder finder;
  for (int w = 0; w < 10; ++w) {
    double values[10];
    for (int s = 0; s < 10; ++s) values[s] = (10 * w + s) % 25 == 7 ? 9.0 : 1.0;
    finder.observe(10 * w, values);
  }
  CHECK(finder.period().length == 25);
  CHECK(finder.period().count(102, 10) == 1);  // step 107
  CHECK(finder.period().count(110, 10) == 0);
  Forecaster forecaster;
  forecaster.reset(1, 1);
  const double mean[1] = {1.8}, base[1] = {1.0}, peak[1] = {9.0};
  const PeakSteps steps[1] = {{10, 1}};
  forecaster.observe(mean, base, peak, steps);
  double out[1];
  forecaster.predict(0, Predictor::periodic, 1.0, {10, 0}, out);
  CHECK(out[0] == Approx(1.0));
  forecaster.predict(0, Predictor::periodic, 1.0, {10, 1}, out);
  CHECK(out[0] == Approx(1.8));
}
