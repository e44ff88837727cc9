// Decisions in programs in which single steps take much longer, such as checkpoints.
#include "course.hpp"

#include "analytics/balance/decision.hpp"

#include <catch2/catch_test_macros.hpp>

namespace effort::balance {
namespace {

constexpr double price = 2;
constexpr int every = 20, steps = 400;

struct PeakOutcome {
  int rebalances = 0;
  double cost = 0, never = 0;  // losses and prices, mean loads
};

// A program that is balanced except for a peak of loss 9 every 20 steps.  Trials predict a loss of 1 after a division.
PeakOutcome follow(bool peaks_move, bool trials) {
  DecisionSettings settings;
  settings.initial_price = price;
  settings.trials = trials;
  Decision decision(settings);
  PeakFinder peaks;
  PeakOutcome out;
  for (int s = 1; s <= steps; ++s) {
    const bool peak = s % every == 0;
    const double left = peaks_move && out.rebalances > 0 ? 1 : 9, loss = peak ? left : 0.01;
    out.cost += loss;
    out.never += peak ? 9 : 0.01;
    StepFacts facts;
    facts.mean = 1;
    facts.largest = 1 + loss;
    facts.kind = peaks.observe(facts.largest, facts.mean);
    for (int age = 1; age <= 4 && age < s; ++age)
      for (Predictor p : {Predictor::last, Predictor::peak})
        if (p == Predictor::last || s > every) facts.trials.push_back({p, age, peak ? 1.0 : 0.02});
    decision.observe(facts);
    LookFacts look;
    look.imbalance = loss;
    look.known[0] = true;
    look.known[static_cast<std::size_t>(Predictor::peak)] = s > every;
    if (!decision.decide(look).rebalance) continue;
    decision.rebalanced(price);
    peaks.restart();
    out.cost += price;
    ++out.rebalances;
  }
  return out;
}

TEST_CASE("peaks are tried once: a rebalance shows whether they move with the work", "[balance]") {
  const PeakOutcome moving = follow(true, true), staying = follow(false, true);
  CHECK(moving.rebalances >= 1);
  CHECK(moving.cost < 0.4 * moving.never);
  CHECK(staying.rebalances >= 1);
  CHECK(staying.rebalances <= 3);
  CHECK(staying.cost <= staying.never + 3 * price);
}

TEST_CASE("a loss that is missed all the while is tried, even if scatter hides how much of it a division would remove",
          "[balance]") {
  const auto scatter = [](unsigned n) {
    n = n * 2654435761u;
    n ^= n >> 15;
    n *= 2246822519u;
    return 0.06 * ((n ^ n >> 13) % 1000 / 500.0 - 1);
  };
  Course course;
  course.price = 0.05;
  course.untouched = [&](int s) { return 0.17 + scatter(2u * static_cast<unsigned>(s)); };
  course.fresh = [&](int, int s) { return 0.12 + scatter(2u * static_cast<unsigned>(s) + 1); };
  const Outcome outcome = follow(course, 100, {});
  REQUIRE_FALSE(outcome.rebalanced.empty());
  CHECK(outcome.rebalanced[0] >= 30);
  CHECK(outcome.rebalanced[0] <= 80);
}

TEST_CASE("peaks cause no rebalance if trials are turned off", "[balance]") {
  CHECK(follow(false, false).rebalances == 0);
  CHECK(follow(true, false).rebalances == 0);
}

}  // namespace
}  // namespace effort::balance
