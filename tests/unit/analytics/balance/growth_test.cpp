#include "analytics/balance/growth.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <vector>

using namespace effort::balance;
using Catch::Approx;

namespace {

// What comes out when every window of a run has the same values.
double trust_in(const std::vector<double>& values) {
  LineTrust trust;
  for (int window = 0; window < 3; ++window) trust.observe(halves_errors(values));
  return trust.share();
}

}  // namespace

TEST_CASE("a line is found through values that lie on it, and through others by least squares", "[balance]") {
  const Line exact = line_through(std::array{3.0, 5.0, 7.0, 9.0});
  CHECK(exact.mean == Approx(6));
  CHECK(exact.slope == Approx(2));
  // y = 0, 0, 3 at x = -1, 0, 1: slope 3 / 2.
  CHECK(line_through(std::array{0.0, 0.0, 3.0}).slope == Approx(1.5));
}

TEST_CASE("the second half's mean is compared with the first half's line and mean", "[balance]") {
  // First half 1 2 3, second 4 5 9: the line says 5 where 6 came, the mean 2.
  const HalvesErrors six = halves_errors(std::array{1.0, 2.0, 3.0, 4.0, 5.0, 9.0});
  CHECK(six.line == Approx(1));
  CHECK(six.mean == Approx(4));
  // Halves of 3 and 4 steps: a straight line is foretold without error.
  CHECK(halves_errors(std::array{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}).line == Approx(0).margin(1e-12));
}

TEST_CASE("lines are believed where work moves steadily, and not where it jumps or differs from step to step",
          "[balance]") {
  CHECK(LineTrust{}.share() == 0);
  CHECK(trust_in({1, 2, 3, 4, 5, 6, 7, 8}) == Approx(1));
  CHECK(trust_in({10, 11, 12.1, 13.3, 14.6, 16, 17.6, 19.3}) > 0.8);
  CHECK(trust_in({1, 1, 1, 1, 2, 2, 2, 2}) == 0);
  CHECK(trust_in({1, 5, 2, 4, 3, 1, 5, 2}) == 0);
  CHECK(trust_in({4, 4, 4, 4, 4, 4}) == 0);
}

TEST_CASE("trust follows the last few windows", "[balance]") {
  LineTrust trust;
  for (int window = 0; window < 10; ++window) trust.observe({0, 1});
  CHECK(trust.share() == Approx(1));
  trust.observe({3, 1});
  CHECK(trust.share() < 0.2);
  for (int window = 0; window < 10; ++window) trust.observe({0, 1});
  CHECK(trust.share() > 0.95);
}

TEST_CASE("the part of a deviation that lasts is what was found again", "[balance]") {
  LastingPart part;
  CHECK(part.share() == 1);
  CHECK(part.keep(0.5) == 1);
  // Four ranks of weight 1 that deviated by 0.1 and, a window later, by 0.04 in the same direction.
  for (int window = 0; window < 4; ++window) part.observe(4 * 0.1 * 0.04, 4 * 0.1 * 0.1, 4);
  CHECK(part.share() == Approx(0.4));
  CHECK(1.1 * part.keep(0.1) == Approx(1.04));
  CHECK(0.9 * part.keep(-0.1) == Approx(0.96));
  // Three times the usual 0.1 is noise, the rest is not.
  CHECK(2.0 * part.keep(1.0) == Approx(1 + 0.4 * 0.3 + 0.7));
  CHECK(part.keep(-1) == 1);
  for (int window = 0; window < 20; ++window) part.observe(4 * 0.1 * 0.1, 4 * 0.1 * 0.1, 4);
  CHECK(part.share() > 0.95);
  for (int window = 0; window < 20; ++window) part.observe(-4 * 0.1 * 0.1, 4 * 0.1 * 0.1, 4);
  CHECK(part.share() == 0);
}

TEST_CASE("a load grows as far as the line is believed, and within bounds", "[balance]") {
  CHECK(growth({100, 2}, 10, 1.0) == Approx(1.2));
  CHECK(growth({100, 2}, 10, 0.5) == Approx(1.1));
  CHECK(growth({100, -2}, 10, 1.0) == Approx(0.8));
  CHECK(growth({100, 90}, 10, 1.0) == 2.0);
  CHECK(growth({100, -90}, 10, 1.0) == 0.5);
  CHECK(growth({0, 0}, 10, 1.0) == 1.0);
}
