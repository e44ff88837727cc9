#include "analytics/balance/peaks.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace effort::balance;

TEST_CASE("outlying steps are peaks until a second one follows", "[balance]") {
  PeakFinder finder;
  for (int s = 0; s < 20; ++s) CHECK(finder.observe(1.1 + 0.01 * (s % 3), 1) == StepKind::ordinary);
  CHECK(finder.observe(4.0, 1) == StepKind::peak);
  CHECK(finder.observe(1.1, 1) == StepKind::ordinary);
  CHECK(finder.observe(4.0, 1) == StepKind::peak);
  CHECK(finder.observe(4.1, 1) == StepKind::new_level);
  CHECK(finder.observe(4.0, 1) == StepKind::ordinary);
  finder.restart();
  CHECK(finder.observe(10.0, 1) == StepKind::ordinary);
}

TEST_CASE("a step in which all ranks take longer is a peak too", "[balance]") {
  PeakFinder finder;
  for (int s = 0; s < 20; ++s) CHECK(finder.observe(1.1 + 0.01 * (s % 3), 1) == StepKind::ordinary);
  CHECK(finder.observe(6.1, 6) == StepKind::peak);
  CHECK(finder.observe(1.1, 1) == StepKind::ordinary);
}

TEST_CASE("a load that grows on all ranks has no peaks", "[balance]") {
  PeakFinder finder;
  double mean = 1;
  for (int s = 0; s < 200; ++s, mean *= 1.05) CHECK(finder.observe(1.2 * mean, mean) == StepKind::ordinary);
}

TEST_CASE("a loss that always fluctuates has no peaks", "[balance]") {
  PeakFinder finder;
  int peaks = 0;
  for (int s = 0; s < 100; ++s) peaks += s > 10 && finder.observe(s % 2 == 0 ? 1.1 : 2.5, 1) == StepKind::peak;
  CHECK(peaks == 0);
}
