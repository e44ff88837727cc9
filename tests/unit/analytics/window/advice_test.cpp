// Predictions and advice of the whole analysis.
#include "tests/unit/analytics/window/run.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>

using namespace effort;
using namespace effort::window;
using namespace effort::window::test;
using Catch::Approx;

TEST_CASE("a linear trend is extrapolated to the steps of the next window", "[window]") {
  Run run;
  run.n_regions = 1;
  run.load = [](int, int r, std::int64_t s) { return 1.0 + (r == 2 ? 0.01 * s : 0.0); };
  const Result r = analyze(run, windows_of_ten(), 2, 6)[0][5];
  // Steps 62 to 71: 1 + 0.01 x 66.5.
  CHECK(r.predicted[2] == Approx(1.665).epsilon(1e-4));
  CHECK(r.prediction_error >= 0);
}

TEST_CASE("work that drifts predicts loads from one window between rebalances", "[window]") {
  Run run;
  run.n_regions = run.n_units = 1;
  run.work = [](int, int r, std::int64_t s) { return 1000.0 + (r == 2 ? 10.0 : 1.0) * static_cast<double>(s); };
  run.load = [&](int, int r, std::int64_t s) { return 1e-6 * run.work(0, r, s) * (1 + 0.02 * noise(r, s)); };
  const auto rebalanced = [](int w) {
    return w == 0 ? std::vector<Rebalance>{} : std::vector<Rebalance>{{10 * w + 1, 1e-3}};
  };
  const Result r = analyze(run, windows_of_ten(), 2, 6, rebalanced)[1][5];
  CHECK(r.first == 52);
  CHECK(r.load[2] == Approx(1.555e-3).epsilon(0.02));       // around step 55.5
  CHECK(r.predicted[2] == Approx(1.665e-3).epsilon(0.02));  // around step 66.5
  CHECK(r.predicted[2] / r.load[2] == Approx(1665.0 / 1555).epsilon(0.01));
  CHECK(r.predicted[0] / r.load[0] == Approx(1066.5 / 1055.5).epsilon(0.01));
}

TEST_CASE("the trend of the work is preferred to that of noisy loads", "[window]") {
  Run run;
  run.n_regions = run.n_units = 1;
  run.work = [](int, int r, std::int64_t s) { return 1000.0 + (r == 2 ? 10.0 : 0.0) * static_cast<double>(s); };
  run.load = [&](int, int r, std::int64_t s) { return 1e-6 * run.work(0, r, s) * (1 + 0.05 * noise(r, s)); };
  const Result r = analyze(run, windows_of_ten(), 2, 8)[0][7];
  CHECK(r.predicted[2] / r.load[2] == Approx(1865.0 / 1745).epsilon(0.01));
}

TEST_CASE("only the persistent part of each rank's deviation is predicted", "[window]") {
  Run run;
  run.n_ranks = 16;
  run.n_regions = run.n_units = 1;
  run.work = [](int, int r, std::int64_t) { return 1000.0 + 100.0 * r; };
  bool lasts = true;
  double slow = 0;  // of rank 3, in the last window
  run.load = [&](int, int r, std::int64_t s) {
    return 1e-6 * run.work(0, r, s) * (1 + 0.03 * noise(r, lasts ? 0 : s) + (r == 3 && s >= 60 ? slow : 0));
  };
  const auto rebalanced = [](int w) {
    return w == 0 ? std::vector<Rebalance>{} : std::vector<Rebalance>{{10 * w - 1, 1e-3}};
  };
  // Deviations of the ranks' loads and of the predictions from the modelled cost of their work.
  const auto sizes = [&](const Result& r) {
    double load = 0, predicted = 0, work = 0;
    for (int i = 0; i < run.n_ranks; ++i) {
      work = 1e-6 * run.work(0, i, 0);
      load += std::fabs(r.load[i] / work - 1);
      predicted += std::fabs(r.predicted[i] / work - 1);
    }
    return predicted / load;
  };
  CHECK(sizes(analyze(run, windows_of_ten(), 2, 7, rebalanced)[0][6]) > 0.9);
  lasts = false;
  CHECK(sizes(analyze(run, windows_of_ten(), 2, 7, rebalanced)[0][6]) < 0.6);
  slow = 0.5;  // far above the noise
  const Result r = analyze(run, windows_of_ten(), 2, 7, rebalanced)[1][6];
  CHECK(r.predicted[3] / r.load[3] > 0.93);
}

TEST_CASE("a node without ranks takes part in predictions from work", "[window]") {
  Run run;
  run.n_ranks = 2;
  run.n_regions = run.n_units = 1;
  run.work = [](int, int r, std::int64_t s) { return 1000.0 + 10.0 * r * static_cast<double>(s); };
  run.load = [&](int, int r, std::int64_t s) { return 1e-6 * run.work(0, r, s) * (1 + 0.03 * noise(r, s / 10)); };
  const auto two = analyze(run, windows_of_ten(), 2, 4), three = analyze(run, windows_of_ten(), 3, 4);
  for (int w = 0; w < 4; ++w) CHECK(three[2][w].predicted == two[0][w].predicted);
}

TEST_CASE("ranks whose work will soon be unequal are rebalanced if that is cheap", "[window]") {
  Run run;
  run.n_regions = run.n_units = 1;
  Settings settings = windows_of_ten();
  settings.initial_price = 1e-5;
  const auto rebalanced = [](int w) {
    return w == 0 ? std::vector<Rebalance>{} : std::vector<Rebalance>{{10 * w - 1, 1e-5}};
  };
  for (const bool drifts : {false, true}) {
    // In both cases rank 2 has 2 % more than the others in every window.
    run.work = [=](int, int r, std::int64_t s) {
      return 1000.0 + (r != 2 ? 0.0 : drifts ? 4.0 * static_cast<double>(s % 10) : 18.0);
    };
    run.load = [&](int, int r, std::int64_t s) { return 1e-6 * run.work(0, r, s); };
    CHECK(analyze(run, settings, 2, 5, rebalanced)[0][4].rebalance == (drifts ? 1 : 0));
  }
}

TEST_CASE("work that differs from step to step predicts no change", "[window]") {
  Run run;
  run.n_regions = run.n_units = 1;
  run.work = [](int, int r, std::int64_t s) { return 1000.0 + 200 * noise(r, s); };
  run.load = [&](int, int r, std::int64_t s) { return 1e-6 * run.work(0, r, s); };
  const auto rebalanced = [](int w) {
    return w == 0 ? std::vector<Rebalance>{} : std::vector<Rebalance>{{10 * w + 1, 1e-3}};
  };
  const auto results = analyze(run, windows_of_ten(), 2, 4, rebalanced);
  // Single steps scatter by 0.16 on average, windows by a third of that.
  for (const Result& r : results[0]) {
    double error = 0;
    for (double predicted : r.predicted) error += std::fabs(predicted / 1e-3 - 1) / run.n_ranks;
    CHECK(error < 0.11);
  }
}

TEST_CASE("a checkpoint every 25 steps neither triggers nor masks, if trials are not wanted", "[window]") {
  Run run;
  run.n_regions = 1;
  Settings settings = windows_of_ten();
  settings.initial_price = 2.0;
  settings.trials = false;
  for (bool imbalanced : {false, true}) {
    run.load = [imbalanced](int, int r, std::int64_t s) {
      return 1.0 + (s % 25 == 7 && r == 0 ? 20.0 : 0.0) + (imbalanced && r == 4 ? 2.0 : 0.0) + 0.01 * noise(r, s);
    };
    const auto results = analyze(run, settings, 2, 12);
    int recommended = 0;
    for (const Result& r : results[0]) recommended += r.rebalance;
    CHECK((recommended > 0) == imbalanced);
    CHECK((results[0].back().advice & advice_periodic) != 0);
  }
}

TEST_CASE("balanced but noisy runs recommend nothing at a known price", "[window]") {
  Settings settings = windows_of_ten();
  settings.initial_price = 2.0;
  for (double level : {0.02, 0.1, 0.2}) {
    Run run;
    run.n_ranks = 16;
    run.n_regions = 1;
    run.load = [level](int, int r, std::int64_t s) {
      const bool disturbed = noise(s, r, 77) > 3.2;  // single steps on a shared machine
      return std::max(0.1, 1.0 + level * noise(r, s)) + (disturbed ? 5.0 : 0.0);
    };
    const auto results = analyze(run, settings, 2, 15);
    for (const Result& r : results[0]) CHECK(r.rebalance == 0);
  }
}

TEST_CASE("equal ranks with unequal regions point at unmarked communication", "[window]") {
  Run run;
  run.load = [](int g, int r, std::int64_t) { return g == 0 ? 0.5 + 0.4 * r : 4.5 - 0.4 * r; };
  const Result r = analyze(run, windows_of_ten(), 2, 1)[0][0];
  CHECK((r.advice & advice_unmarked_comm) != 0);
  CHECK(r.rebalance == 0);
}

TEST_CASE("equal ranks that wait most of the time in marked communication have nothing unmarked", "[window]") {
  Run run;
  run.load = [](int, int, std::int64_t) { return 0.5; };
  run.wait = [](int, std::int64_t) { return 9.0; };
  run.wall = [](int, std::int64_t) { return 10.0; };
  CHECK((analyze(run, windows_of_ten(), 2, 1)[0][0].advice & advice_unmarked_comm) == 0);
}

TEST_CASE("recommendations do not depend on the unit of load", "[window]") {
  Run run;
  run.n_ranks = 12;
  double scale = 1;
  run.load = [&scale](int g, int r, std::int64_t s) {
    return scale * (1 + 0.3 * (r == s / 20) + 0.1 * g + 0.01 * noise(r, s));
  };
  Settings settings = windows_of_ten();
  settings.initial_price = 3;
  const auto one = analyze(run, settings, 1, 12);
  scale = settings.initial_price = 1024;
  settings.initial_price *= 3;
  const auto other = analyze(run, settings, 1, 12);
  for (int w = 0; w < 12; ++w) CHECK(one[0][w].rebalance == other[0][w].rebalance);
}

TEST_CASE("ranks that become idle, or whose clock stops, count as without load", "[window]") {
  Run run;
  run.n_ranks = 8;
  run.n_units = 1;
  run.work = [](int, int r, std::int64_t s) { return s >= 20 && r >= 6 ? 0.0 : 10.0; };
  run.load = [](int g, int r, std::int64_t s) { return g == 0 && !(s >= 20 && r >= 6) ? 1.0 : 0.0; };
  const auto results = analyze(run, windows_of_ten(), 2, 4);
  CHECK(results[0][1].imbalance == Approx(0.0).margin(1e-12));
  const Result& r = results[1][3];
  REQUIRE_FALSE(r.failed);
  CHECK(r.load[7] == 0);
  CHECK(r.predicted[7] == Approx(0.0).margin(1e-9));
  CHECK(r.imbalance == Approx(8.0 / 6 - 1));
  CHECK(r.rebalance == 1);
  CHECK(r.unit_cost[0] == Approx(0.1));
}

TEST_CASE("idle ranks are expected to take work: a rebalance pays although no weight changes their load", "[window]") {
  Run run;
  run.load = [](int g, int r, std::int64_t) { return g == 0 && r < 6 ? 1.0 : 0.0; };
  Settings settings = windows_of_ten();
  settings.initial_price = 0.1;
  const auto results = analyze(run, settings, 2, 2);
  for (const auto& node : results) CHECK(node[1].rebalance == 1);
  CHECK(results[0][1].expected_saving > 0);
}

TEST_CASE("a window without any load gives no advice and does no harm", "[window]") {
  Run run;
  run.load = [](int, int, std::int64_t s) { return s < 10 ? 1.0 : 0.0; };
  const auto results = analyze(run, windows_of_ten(), 2, 3);
  for (const Result& r : results[1]) {
    REQUIRE_FALSE(r.failed);
    CHECK(r.rebalance == 0);
    CHECK(r.imbalance == 0);
    CHECK(std::isfinite(r.gain_per_step));
  }
}

TEST_CASE("absurd prices count as unknown", "[window]") {
  Run run;
  run.load = [](int, int r, std::int64_t) { return r == 0 ? 3.0 : 1.0; };
  for (double price : {-1.0, std::nan(""), HUGE_VAL}) {
    const auto results = analyze(run, windows_of_ten(), 1, 3, [price](int w) {
      return w == 1 ? std::vector<Rebalance>{{9, price}} : std::vector<Rebalance>{};
    });
    CHECK(results[0][2].rebalance_cost < 0);
    CHECK(results[0][2].rebalance == 1);
    Settings settings = windows_of_ten();
    settings.initial_price = price;
    CHECK(analyze(run, settings, 1, 1)[0][0].rebalance_cost < 0);
  }
}
