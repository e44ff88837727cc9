#include "analytics/window/cadence.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace effort::window;

namespace {

constexpr int far = 1000;  // patience of a decision that expects no rebalance to pay

LookCost look(double share_of_a_step) { return {share_of_a_step, share_of_a_step, 0, 1}; }

}  // namespace

TEST_CASE("as long as the cost of a look is unknown, the next one comes soon, and ranks wait for it", "[cadence]") {
  const NextLook next = Cadence().next({}, far, 0);
  CHECK(next.steps <= 3);
  CHECK(next.lag == 0);
  CHECK(Cadence().next({}, 1, 0.5).steps == 1);
}

TEST_CASE("looks take one percent of the run, or more if late rebalances lose more", "[cadence]") {
  const auto steps = [](double share, int patience, double urgency) {
    Cadence cadence;
    for (int i = 0; i < 4; ++i) cadence.next(look(share), patience, urgency);
    return cadence.next(look(share), patience, urgency).steps;
  };
  CHECK(steps(0.05, 1, 0) == 5);  // 1 % of the run
  CHECK(steps(0.05, 1, 0.4) == 1);
  CHECK(steps(0.5, 1, 0.4) == 10);
}

TEST_CASE("looks become rare step by step", "[cadence]") {
  Cadence cadence;
  int last = 1;
  for (int i = 0; i < 10; ++i) {
    const int next = cadence.next(look(1), far, 0).steps;
    CHECK(next <= 2 * last + 1);
    last = next;
  }
  CHECK(last > 25);
}
