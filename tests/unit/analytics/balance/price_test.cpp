#include "analytics/balance/decision.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

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
  Price price(-1);
  CHECK(price.value() < 0);
  price.add(60);  // the first callback took a minute, and no other price is known
  CHECK(price.value() == 60);
  price.add(1);
  CHECK(price.value() == 1);
  price.add(3);
  CHECK(price.value() == 3);
  price.add(2);
  CHECK(price.value() == 2);
  price.add(500);
  CHECK(price.value() == 3);
}

TEST_CASE("slow starts belong to the price if most rebalances have them", "[balance]") {
  Price price(-1);
  for (int i = 0; i < 3; ++i) price.add(1);
  price.add_slow_start(135);  // a checkpoint coincided with the step after a rebalance
  CHECK(price.value() == 1);
  price.add_slow_start(0.01);
  price.add_slow_start(-0.01);
  CHECK(price.value() == Approx(1.01));
  for (int i = 0; i < 5; ++i) price.add_slow_start(0.5);
  CHECK(price.value() == 1.5);
  for (int i = 0; i < 5; ++i) price.add_slow_start(40);  // every rebalance coincides with a step of output
  CHECK(price.value() == 2);
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
