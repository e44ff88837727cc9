#include "analytics/balance/decision.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <initializer_list>
#include <limits>

using namespace effort::balance;
using Catch::Approx;

namespace {

double price_of(Decision& decision) { return decision.decide({}).price; }

}  // namespace

TEST_CASE("invalid prices are ignored", "[balance]") {
  Decision decision{DecisionSettings{}};
  decision.rebalanced(std::numeric_limits<double>::quiet_NaN());
  CHECK(price_of(decision) < 0);
  decision.rebalanced(-4);
  CHECK(price_of(decision) < 0);
  decision.rebalanced(4);
  CHECK(price_of(decision) == 4);
  decision.rebalanced(std::numeric_limits<double>::infinity());
  CHECK(price_of(decision) == 4);
}

TEST_CASE("a single outlying price is not trusted", "[balance]") {
  const auto price_after = [](std::initializer_list<double> measured) {
    Price price(-1);
    CHECK_FALSE(price.line().known());
    for (double seconds : measured) price.add(seconds, 0.3);
    return price.line().at(0.3);
  };
  CHECK(price_after({60}) == Approx(60));  // the first callback took a minute, and no other price is known
  CHECK(price_after({60, 1}) == Approx(1));
  CHECK(price_after({60, 1, 3}) == Approx(7.0 / 3));
  CHECK(price_after({60, 1, 3, 2, 2, 500}) == Approx(14.0 / 6));
}

TEST_CASE("a price that grows with the loss is learned, a constant one stays constant", "[balance]") {
  for (const double share : {0.0, 0.4, 1.0}) {
    Price price(-1);
    const auto truth = [share](double loss) { return 2 * (1 - share + share * loss); };
    // Only one loss has been seen: half of the price is assumed to grow.
    price.add(truth(1.0), 1.0);
    CHECK(price.line().at(1.0) == Approx(2));
    CHECK(price.typical() == Approx(2));
    CHECK(price.line().at(0.2) == Approx(1.2));
    for (double loss : {0.2, 0.6, 1.5, 1.0, 0.3, 2.0, 0.4}) price.add(truth(loss), loss);
    for (double loss : {0.1, 1.0, 2.0}) CHECK(price.line().at(loss) == Approx(truth(loss)).margin(0.25));
  }
}

TEST_CASE("a rebalancer that often declines costs less on average", "[balance]") {
  Price price(-1);
  for (int i = 0; i < 9; ++i) price.add(i % 2 == 0 ? 0.0 : 1.0, 0.1);
  CHECK(price.line().at(0.1) == Approx(4.0 / 9));
}

TEST_CASE("prices without a loss, or of nothing, are no division by zero", "[balance]") {
  Price price(-1);
  price.add(0, 0);
  CHECK(price.line().at(1) == 0);
  price.add(0, 0.5);
  CHECK(price.line().at(1) == 0);
  price.add(2, 0);
  CHECK(price.line().at(0) >= 0);
  CHECK(std::isfinite(price.line().at(1)));
}

TEST_CASE("slow starts belong to the price if most rebalances have them", "[balance]") {
  Price price(-1);
  for (int i = 0; i < 3; ++i) price.add(1, 0.2);
  price.add_slow_start(135);  // a checkpoint coincided with the step after a rebalance
  CHECK(price.line().at(0.2) == Approx(1));
  price.add_slow_start(0.01);
  price.add_slow_start(-0.01);
  CHECK(price.line().at(0.2) == Approx(1.01));
  for (int i = 0; i < 5; ++i) price.add_slow_start(0.5);
  CHECK(price.line().at(0.2) == Approx(1.5));
  for (int i = 0; i < 5; ++i) price.add_slow_start(40);  // every rebalance coincides with a step of output
  CHECK(price.line().at(0.2) == Approx(2));
}

TEST_CASE("a recurring slow step does not raise the price, even if every rebalance coincides with it", "[balance]") {
  const auto price_with = [](double heavy, double first) {
    Decision decision(DecisionSettings{});
    for (int step = 0; step < 100; ++step) {
      if (step % 6 == 0 && step > 0) decision.rebalanced(0.3);
      StepFacts facts;
      facts.mean = step % 6 == 0 && step > 0 ? first : step % 2 == 0 ? heavy : 1.0;
      facts.largest = facts.mean;
      decision.observe(facts);
    }
    return price_of(decision);
  };
  CHECK(price_with(1.4, 1.4) == Approx(0.3));
  CHECK(price_with(1.0, 1.2) == Approx(0.5));  // new neighbour lists after each rebalance
  CHECK(price_with(1.4, 1.5) == Approx(0.4));
}
