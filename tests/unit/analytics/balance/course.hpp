// A run whose losses are known, for tests of the decision.
#pragma once

#include "analytics/balance/decision.hpp"
#include "analytics/balance/peaks.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace effort::balance {

inline DecisionSettings at_price(double price) {
  DecisionSettings settings;
  settings.initial_price = price;
  return settings;
}

// A run whose loss is known in every step, and its outcome.
struct Course {
  std::function<double(int age, int step)> fresh = [](int, int) { return 0.0; };  // loss of a division `age` steps old
  std::function<double(int step)> untouched = [](int) { return 0.0; };            // loss until the first rebalance
  double price = 1, unit = 1;  // price of a rebalance in mean steps; seconds per mean step
  double moving = 0;           // share of the price that is in proportion to the loss before the rebalance
  bool tells_price = true;
  double unawaited = 0;  // loss for which no rank waits, in mean steps
  double helps = 1;      // share of the loss above `fresh` that a rebalance removes
  // Loss of a real division `age` steps old, if it differs from the loss that trials show.
  std::function<double(int age, int step)> real;
};

struct Outcome {
  std::vector<int> rebalanced;  // steps after which a rebalance was made
  std::vector<Verdict> verdicts;
};

// Looks after every step and follows the hints.
inline Outcome follow(const Course& course, int steps, DecisionSettings settings) {
  Decision decision(settings);
  PeakFinder peaks;
  Outcome out;
  int age = 0;
  double above = 0;
  for (int s = 0; s < steps; ++s) {
    ++age;
    const bool fresh = !out.rebalanced.empty();
    const auto& present = course.real ? course.real : course.fresh;
    const double loss = fresh ? present(age, s) + above : course.untouched(s);
    StepFacts facts;
    facts.mean = course.unit;
    facts.largest = course.unit * (1 + loss);
    facts.kind = peaks.observe(facts.largest, facts.mean);
    for (int a = 1; a <= std::min(s, oldest_age); a = a < 4 ? a + 1 : 2 * a)
      facts.trials.push_back({Predictor::last, a, course.fresh(a, s)});
    decision.observe(facts);
    LookFacts look;
    look.imbalance = loss;
    look.unawaited = course.unawaited * course.unit;
    look.known[0] = true;
    out.verdicts.push_back(decision.decide(look));
    if (!out.verdicts.back().rebalance) continue;
    above = (1 - course.helps) * (loss - course.fresh(1, s));
    const double price = course.price * (1 - course.moving + course.moving * loss);
    decision.rebalanced(course.tells_price ? price * course.unit : -1);
    peaks.restart();
    out.rebalanced.push_back(s);
    age = 0;
  }
  return out;
}

}  // namespace effort::balance
