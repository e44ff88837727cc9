#include "analytics/balance/shifts.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <random>

using namespace effort::balance;
using Catch::Approx;

TEST_CASE("a shift is found one step later; a single outlying step does not count", "[balance]") {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 0.01);
  ShiftFinder finder;
  const auto usual = [&] { return 0.1 + noise(random); };
  for (int s = 0; s < 100; ++s) CHECK_FALSE(finder.observe(usual(), usual()));
  CHECK_FALSE(finder.observe(0.6, usual()));  // the loads change: a division one step old is bad,
  CHECK(finder.observe(usual(), 0.6));        // and one made before the change still is
  for (int s = 0; s < 20; ++s) CHECK_FALSE(finder.observe(usual(), usual()));
  CHECK_FALSE(finder.observe(0.6, usual()));      // one step stands out,
  CHECK_FALSE(finder.observe(0.6, usual()));      // so the division made from it is bad,
  CHECK_FALSE(finder.observe(usual(), usual()));  // but not the one before
}

TEST_CASE("loads that always change have no shifts", "[balance]") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> loss(0.1, 1.0);
  ShiftFinder finder;
  int found = 0;
  for (int s = 0; s < 300; ++s) found += finder.observe(loss(random), loss(random));
  CHECK(found <= 1);
}

TEST_CASE("the time to the next shift is learned from earlier ones", "[balance]") {
  Regimes regimes;
  CHECK(regimes.remaining(100) == Approx(100));
  for (int n = 0; n < 4; ++n) {
    for (int s = 0; s < 30; ++s) regimes.step();
    regimes.shift(0);
  }
  for (int s = 0; s < 10; ++s) regimes.step();
  CHECK(regimes.remaining(100) == Approx((4 * 20 + 0.5 * 100) / 4.5));
  for (int s = 0; s < 30; ++s) regimes.step();  // longer than any regime before, so these give no estimate
  CHECK(regimes.remaining(100) == Approx(100));
}
