#include "course.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

using namespace effort::balance;

namespace {

// Whether a rebalance is recommended after step s of this loss.  Fresh divisions lose `fresh` at every age.
bool rebalances_after(Decision& decision, PeakFinder& peaks, int s, double loss, double fresh) {
  StepFacts facts;
  facts.mean = 1;
  facts.largest = 1 + loss;
  facts.kind = peaks.observe(facts.largest, facts.mean);
  for (int a = 1; a <= std::min(s, oldest_age); a = a < 4 ? a + 1 : 2 * a)
    facts.trials.push_back({Predictor::last, a, fresh});
  decision.observe(facts);
  LookFacts look;
  look.imbalance = loss;
  look.known[0] = true;
  return decision.decide(look).rebalance;
}

}  // namespace

TEST_CASE("a balanced run never gets a recommendation, at any price", "[balance]") {
  Course course;
  course.fresh = [](int, int) { return 0.01; };
  course.untouched = [](int) { return 0.01; };
  for (double price : {-1.0, 0.0, 0.1, 1.0, 100.0}) CHECK(follow(course, 500, at_price(price)).rebalanced.empty());
}

TEST_CASE("a constant loss causes one rebalance, sooner if the loss is larger", "[balance]") {
  Course course;
  course.fresh = [](int, int) { return 0.02; };
  int last = 0;
  for (double loss : {4.0, 1.0, 0.3}) {
    course.untouched = [loss](int) { return loss; };
    course.price = 5;
    const Outcome outcome = follow(course, 400, at_price(5));
    REQUIRE(outcome.rebalanced.size() == 1);
    CHECK(outcome.rebalanced[0] >= last);
    CHECK(outcome.rebalanced[0] * loss <= 5 * course.price);
    last = outcome.rebalanced[0];
  }
}

TEST_CASE("a loss counts only as far as ranks wait for it", "[balance]") {
  Course course;
  course.fresh = [](int, int) { return 0.05; };
  course.untouched = [](int) { return 0.5; };
  course.price = 5;
  const auto first = [&](double unawaited) {
    course.unawaited = unawaited;
    const Outcome outcome = follow(course, 400, at_price(5));
    return outcome.rebalanced.empty() ? 400 : outcome.rebalanced[0];
  };
  const int known = first(0);
  CHECK(known < 40);
  CHECK(first(0.3) > known);
  CHECK(first(0.3) < 400);
  CHECK(first(0.5) == 400);
  CHECK(first(2.0) == 400);
}

TEST_CASE("the cadence follows the square root of the price", "[balance]") {
  // For a loss that grows by 0.02 a step, a rebalance every sqrt(2 price / 0.02) steps costs least.
  Course course;
  course.fresh = [](int age, int) { return 0.02 * age; };
  course.untouched = [](int step) { return 0.02 * step; };
  for (double price : {0.25, 1.0, 4.0}) {
    course.price = price;
    const Outcome outcome = follow(course, 1000, at_price(price));
    const double best = std::sqrt(2 * price / 0.02);
    // The loss must have lasted before it is believed, which makes the intervals longer.  Part of the price is assumed
    // to grow with the loss, because prices at other losses have not been seen, which makes them shorter.  30 % in
    // either direction cost 3.5 % more than the best interval: (1.3 + 1 / 1.3) / 2.
    CHECK(static_cast<double>(outcome.rebalanced.size()) <= 1.3 * 1000 / best);
    CHECK(static_cast<double>(outcome.rebalanced.size()) >= 1000 / (1.3 * best));
  }
}

TEST_CASE("if the price is in proportion to the loss, small rebalances are made often", "[balance]") {
  Course course;
  course.fresh = [](int age, int) { return 0.02 * age; };
  course.untouched = [](int step) { return 0.02 * step; };
  course.price = 4;
  const std::size_t constant = follow(course, 1000, at_price(-1)).rebalanced.size();
  course.moving = 1;
  const std::size_t proportional = follow(course, 1000, at_price(-1)).rebalanced.size();
  // Every 20 steps is best if the price is 4 mean steps.  If it is 4 mean steps per mean load, which adds 0.08 to each
  // step at any interval, then the more often, the better; half of the way in intervals saves most of it.
  CHECK(constant <= 1.3 * 50);
  CHECK(proportional >= 100);
}

TEST_CASE("the decision does not depend on the unit of time", "[balance]") {
  Course course;
  course.fresh = [](int age, int step) { return 0.03 * age + 0.01 * (step % 7); };
  course.untouched = [](int step) { return 0.1 * (step % 12); };
  course.price = 0.5;
  const Outcome one = follow(course, 200, at_price(0.5));
  course.unit = 1024;
  CHECK(follow(course, 200, at_price(0.5 * 1024)).rebalanced == one.rebalanced);
  CHECK(one.rebalanced.size() > 5);
}

TEST_CASE("rebalancing that does not help is not repeated for long", "[balance]") {
  Course course;
  course.fresh = [](int, int) { return 0.05; };
  course.untouched = [](int) { return 0.8; };
  course.helps = 0;
  course.price = 2;
  const std::vector<int> at = follow(course, 400, at_price(2)).rebalanced;
  // After each failure it waits about twice as long: from the second wait of 6 steps on, 1 + log2(400 / 6) times.
  CHECK(at.size() == 7);
  for (std::size_t i = 2; i < at.size(); ++i) CHECK(at[i] - at[i - 1] >= 1.8 * (at[i - 1] - at[i - 2]));
}

TEST_CASE("a loss that grows by itself right after a rebalance is not blamed on the rebalance", "[balance]") {
  Decision decision(at_price(0.02));
  PeakFinder peaks;
  int rebalances = 0;
  double loss = 0.2;
  for (int s = 0; s < 20 && rebalances < 2; ++s) {
    if (!rebalances_after(decision, peaks, s, loss, 0.02)) continue;
    decision.rebalanced(0.02);
    peaks.restart();
    loss = ++rebalances == 1 ? 3.0 : 0.02;  // the first one coincides with a collapse
  }
  CHECK(rebalances == 2);
}

TEST_CASE("a rebalancer that removes a part of the loss is called until removing the rest does not pay", "[balance]") {
  Course course;
  course.fresh = [](int, int) { return 0.02; };
  course.untouched = [](int) { return 2.0; };
  course.helps = 0.3;
  course.price = 0.1;
  const Outcome outcome = follow(course, 100, at_price(0.1));
  CHECK(2.0 * std::pow(0.7, outcome.rebalanced.size()) < 2 * course.price);
  CHECK(outcome.rebalanced.size() <= 25);
  // Afterwards it is called only to see whether it still moves little.
  CHECK(std::count_if(outcome.rebalanced.begin(), outcome.rebalanced.end(), [](int step) { return step >= 60; }) <= 1);
}

TEST_CASE("a rebalancer that removes less than the loss grows by is called as long as that pays", "[balance]") {
  Decision decision(at_price(0.05));
  PeakFinder peaks;
  double loss = 0.3;
  int rebalances = 0;
  for (int s = 1; s <= 30; ++s) {
    const bool recommended = rebalances_after(decision, peaks, s, loss, 0.05);
    loss *= 1.15;
    if (!recommended) continue;
    decision.rebalanced(0.05);
    peaks.restart();
    loss *= 0.85;
    ++rebalances;
  }
  CHECK(rebalances >= 25);
}

TEST_CASE("a single outlying step causes no rebalance, but a new level does", "[balance]") {
  Course course;
  const auto peaks = [](int step) { return step % 50 == 30 ? 3.0 : 0.02; };
  course.fresh = [&](int, int step) { return peaks(step); };
  course.price = 1;
  course.untouched = peaks;
  CHECK(follow(course, 200, at_price(1)).rebalanced.empty());
  course.fresh = [](int, int) { return 0.02; };
  course.untouched = [](int step) { return step >= 30 ? 3.0 : 0.02; };
  const Outcome outcome = follow(course, 200, at_price(1));
  REQUIRE(outcome.rebalanced.size() == 1);
  CHECK(outcome.rebalanced[0] <= 33);
}

TEST_CASE("the threshold decides while no price is known; trials are made below it", "[balance]") {
  Course course;
  course.fresh = [](int, int) { return 0.01; };
  course.price = 0.2;
  const auto first = [&](double loss, bool trials, bool threshold_binds = false) {
    course.untouched = [loss](int) { return loss; };
    DecisionSettings settings;
    settings.trials = trials;
    settings.threshold_binds = threshold_binds;
    const Outcome outcome = follow(course, 400, settings);
    return outcome.rebalanced.empty() ? -1 : outcome.rebalanced[0];
  };
  // Without the user's threshold, 1.5 mean steps must have been lost.
  CHECK(first(0.3, false) >= 5);
  CHECK(first(0.3, false) <= 6);
  CHECK(first(0.8, false) >= 1);
  CHECK(first(0.8, false) <= 2);
  CHECK(first(0.3, false, true) >= 0);
  CHECK(first(0.3, false, true) <= 3);
  CHECK(first(0.08, false) == -1);
  const int tried = first(0.08, true);
  REQUIRE(tried >= 0);
  DecisionSettings settings;
  course.untouched = [](int) { return 0.08; };
  CHECK(follow(course, 400, settings).verdicts[static_cast<std::size_t>(tried)].trial);
}

TEST_CASE("while no price is known, looks come soon after the imbalance has exceeded the threshold, then ever later",
          "[balance]") {
  Course course;
  course.untouched = [](int s) { return s < 4 ? 0.05 : 0.5; };
  course.fresh = [](int, int) { return 0.45; };  // a rebalance would not help
  const Outcome outcome = follow(course, 40, {});
  REQUIRE(outcome.rebalanced.empty());
  CHECK(outcome.verdicts[2].patience > 4);
  CHECK(outcome.verdicts[2].urgency == 0);
  CHECK(outcome.verdicts[4].patience == 1);
  CHECK(outcome.verdicts[4].urgency > 0.04);
  CHECK(outcome.verdicts[8].patience == 5);
  CHECK(outcome.verdicts[39].patience == 36);
}

TEST_CASE("while no price is known, a rebalance that trials show to be useless is not recommended", "[balance]") {
  // Every division of these loads loses 0.25 from its second step on, so that dividing anew gains nothing.
  Course course;
  course.fresh = [](int age, int) { return age == 1 ? 0.24 : 0.25; };
  course.untouched = [](int) { return 0.25; };
  CHECK(follow(course, 400, {}).rebalanced.empty());
  DecisionSettings binding;
  binding.threshold_binds = true;
  CHECK_FALSE(follow(course, 10, binding).rebalanced.empty());
  course.fresh = [](int, int) { return 0.1; };
  CHECK_FALSE(follow(course, 10, {}).rebalanced.empty());
}

TEST_CASE("a host that acts only at certain steps is asked before them", "[balance]") {
  // A mesh is adapted every 5 steps, which unbalances it. It can be redistributed only then.
  Decision decision(at_price(0.1));
  PeakFinder peaks;
  int adapted = 0, rebalanced = 0;
  bool asked = false;
  double loss = 0.5;
  for (int s = 1; s < 400; ++s) {
    StepFacts facts;
    facts.mean = 1;
    facts.largest = 1 + loss;
    facts.kind = peaks.observe(facts.largest, facts.mean);
    for (int a = 1; a <= oldest_age; a = a < 4 ? a + 1 : 2 * a)
      facts.trials.push_back({Predictor::last, a, a > (s - 1) % 5 ? 0.5 : 0.02});
    decision.observe(facts);
    LookFacts look;
    look.imbalance = loss;
    look.known[0] = true;
    asked = decision.decide(look).rebalance || asked;
    if (s % 5 != 0) continue;
    ++adapted;
    loss = asked ? 0.02 : 0.5;
    if (!asked) continue;
    ++rebalanced;
    decision.rebalanced(0.1);
    peaks.restart();
    asked = false;
  }
  CHECK(rebalanced > 0.9 * adapted);
}

TEST_CASE("a hint that recommends a rebalance does not also say balanced or too expensive", "[balance]") {
  int told = 0;
  for (double price : {-1.0, 0.0, 0.1, 5.0})
    for (double fresh : {0.0, 0.15, 0.3}) {
      Course course;
      course.fresh = [fresh](int, int) { return fresh; };
      course.untouched = [](int step) { return 0.08 * (step / 10 % 5); };
      course.price = std::max(price, 0.0);
      bool rebalanced = false;
      for (const Verdict& v : follow(course, 200, at_price(price)).verdicts) {
        CHECK_FALSE((v.rebalance && v.balanced));
        CHECK_FALSE((v.rebalance && v.too_expensive));
        CHECK((v.balanced || !rebalanced));  // the new division keeps its loss
        rebalanced = rebalanced || v.rebalance;
      }
      told += rebalanced;
    }
  // It pays at any price if a fresh division has no loss, at the prices 0 and 0.1 if it has 0.15, at 0 if it has 0.3.
  CHECK(told == 4 + 2 + 1);
}

TEST_CASE("a rebalance that takes a minute is recommended again once it pays", "[balance]") {
  Course course;
  course.fresh = [](int age, int) { return 0.02 * age; };
  course.untouched = [](int step) { return 0.02 * step; };
  course.price = 60;
  const Outcome outcome = follow(course, 600, at_price(60));
  // A cycle of sqrt(2 x 60 / 0.02) = 77 steps, with 7 rebalances, costs least.  Caution makes cycles of about 100.
  CHECK(outcome.rebalanced.size() == 6);
}

TEST_CASE("patience does not run out because of a loss that no cadence of rebalances would avoid", "[balance]") {
  // A fresh division is better for one step and worse afterwards.
  Course course;
  course.fresh = [](int age, int) { return age == 1 ? 0.2 : 0.9; };
  course.untouched = [](int) { return 0.4; };
  course.price = 3;
  CHECK(follow(course, 500, at_price(3)).rebalanced.empty());
}

TEST_CASE("balanced is reported only if there is almost nothing to gain", "[balance]") {
  Course course;
  course.price = 50;
  course.fresh = [](int, int) { return 0.01; };
  for (double loss : {0.015, 0.2, 3.64}) {
    course.untouched = [loss](int) { return loss; };
    const Outcome outcome = follow(course, 60, at_price(1e6));
    for (std::size_t s = 5; s < outcome.verdicts.size(); ++s) {
      CHECK(outcome.verdicts[s].balanced == (loss < 0.03));
      CHECK(outcome.verdicts[s].too_expensive == (loss > 0.1));
    }
  }
}

TEST_CASE("a look without a new step recommends nothing", "[balance]") {
  Decision decision{DecisionSettings{}};
  StepFacts facts;
  facts.mean = 1;
  facts.largest = 6;
  for (int s = 0; s < 5; ++s) decision.observe(facts);
  LookFacts look;
  look.imbalance = 5;
  look.known[0] = true;
  CHECK(decision.decide(look).rebalance);
  look.stale = true;
  CHECK_FALSE(decision.decide(look).rebalance);
}

TEST_CASE("a lasting change of the loads causes a rebalance soon after it is known to last, whatever came before",
          "[balance]") {
  // A node becomes slow after 100 steps with little loss.  A rebalance pays within 20 steps, even at a price of ten.
  constexpr int slow_from = 100;
  Decision decision(at_price(10));
  int rebalanced = -1;
  for (int s = 0; s < 200 && rebalanced < 0; ++s) {
    const double loss = s < slow_from ? 0.03 : 0.6;
    StepFacts facts;
    facts.mean = 1;
    facts.largest = 1 + loss;
    facts.shift = s == slow_from + 1;
    for (int a = 1; a <= std::min(s, oldest_age); a = a < 4 ? a + 1 : 2 * a)
      if (s <= slow_from || a <= s - slow_from)
        facts.trials.push_back({Predictor::last, a, s == slow_from ? 0.6 : 0.03});
    decision.observe(facts);
    LookFacts look;
    look.imbalance = loss;
    look.known[0] = true;
    if (decision.decide(look).rebalance) rebalanced = s;
  }
  CHECK(rebalanced >= slow_from);
  CHECK(rebalanced <= slow_from + 20);
}

TEST_CASE("peaks that a division would make worse count against it", "[balance]") {
  // Checkpoints of equal size on all ranks: a division by the other steps' loads would unbalance them.
  const auto rebalances = [](double peak_under_division) {
    Decision decision(at_price(0.5));
    int count = 0;
    for (int s = 1; s < 200; ++s) {
      const bool peak = s % 8 == 7;
      StepFacts facts;
      facts.mean = peak ? 10 : 1;
      facts.largest = facts.mean * (peak ? 1.02 : 1.1);
      facts.kind = peak ? StepKind::peak : StepKind::ordinary;
      for (int a = 1; a <= std::min(s, oldest_age); a = a < 4 ? a + 1 : 2 * a)
        facts.trials.push_back({Predictor::last, a, peak ? peak_under_division : 0.01});
      decision.observe(facts);
      LookFacts look;
      look.imbalance = 0.1;
      look.known[0] = true;
      count += s > 40 && decision.decide(look).rebalance;
    }
    return count;
  };
  CHECK(rebalances(0.02) > 0);
  CHECK(rebalances(0.5) == 0);
}
