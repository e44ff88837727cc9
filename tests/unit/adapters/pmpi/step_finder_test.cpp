// Finding the step in sequences of collectives of several kinds of codes.
#include "adapters/pmpi/step_finder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <random>
#include <vector>

using namespace effort::pmpi;

namespace {

/// A run in which each call follows some computation.
class Run {
 public:
  void call(std::uint64_t path, double computation) {
    now_ += computation * noise_(random_);
    events_.push_back({path, now_, ++calls_});
  }
  /// Other blocking calls before the next one.
  void exchange() { calls_ += 2; }
  StepRule rule(double least = 0) const { return find_step(events_, least); }
  const std::vector<Event>& events() const { return events_; }

 private:
  std::mt19937 random_{7};
  std::uniform_real_distribution<double> noise_{0.8, 1.25};
  double now_ = 0;
  std::uint64_t calls_ = 0;
  std::vector<Event> events_;
};

constexpr std::uint64_t time_step = 11, reduction = 12, output = 13, residual = 14, other = 15;

}  // namespace

TEST_CASE("one collective a step") {
  Run run;
  for (int i = 0; i < 40; ++i) run.call(reduction, 1);
  CHECK(run.rule().path == reduction);
  CHECK(run.rule().every == 1);
  CHECK(run.rule().confidence > 0.95);
}

TEST_CASE("nothing is found in runs that are too short, or whose paths never or no longer recur") {
  Run brief, single, past;
  for (int i = 0; i < 10; ++i) brief.call(reduction, 1);
  CHECK(brief.rule().path == 0);
  CHECK(find_step({}).path == 0);
  for (std::uint64_t i = 0; i < 100; ++i) single.call(100 + i, 1);
  CHECK(single.rule().path == 0);
  for (int i = 0; i < 40; ++i) past.call(reduction, 1);
  for (std::uint64_t i = 0; i < 20; ++i) past.call(100 + i, 5);
  CHECK(past.rule().path == 0);
}

TEST_CASE("diagnostics every few steps do not make the step longer") {
  for (int every : {5, 10, 100}) {
    Run run;
    for (int i = 0; i < 400; ++i) {
      run.call(reduction, 1);
      if (i % every == 0)
        for (std::uint64_t d = 0; d < 3; ++d) run.call(output + 100 + d, 0.01);
    }
    INFO(every);
    CHECK(run.rule().path == reduction);
    CHECK(run.rule().every == 1);
  }
}

TEST_CASE("a solver's iterations are not steps, with a fixed or a varying number") {
  for (bool varies : {false, true}) {
    Run run;
    std::mt19937 random(3);
    for (int i = 0; i < 60; ++i) {
      run.call(time_step, 10);
      const int iterations = varies ? 5 + static_cast<int>(random() % 10) : 12;
      for (int k = 0; k < iterations; ++k) run.call(residual, 0.5);
    }
    INFO(varies);
    CHECK(run.rule().path == time_step);
  }
}

TEST_CASE("stages of a time integration make up one step") {
  Run run;
  for (int i = 0; i < 40; ++i) {
    run.call(time_step, 0.1);
    for (int stage = 0; stage < 4; ++stage) run.call(reduction, 1);
  }
  CHECK(run.rule().path == time_step);
}

TEST_CASE("of several collectives in a step one ends it; if they repeat, the one before the longest computation") {
  Run run;
  for (int i = 0; i < 40; ++i) {
    run.call(time_step, 5);
    run.call(reduction, 0.5);
    run.call(other, 0.5);
  }
  CHECK(run.rule().path == other);
}

TEST_CASE("bursts of a fixed length from one place: every k-th call ends a step, before the longest computation") {
  for (int extra = 0; extra < 5; ++extra) {
    Run run;
    for (int i = 0; i < 40; ++i) {
      run.call(residual, 20);
      for (int k = 0; k < 4; ++k) run.call(residual, 1);
    }
    for (int k = 0; k < extra; ++k) run.call(residual, k == 0 ? 20 : 1);
    const StepRule rule = run.rule();
    INFO(extra);
    CHECK(rule.path == residual);
    REQUIRE(rule.every == 5);
    CHECK(rule.skip == static_cast<std::uint32_t>(5 - extra));
  }
}

TEST_CASE("a checksum of each variable is never a step, at any look") {
  // As in miniAMR: several variables, one checksum each in every fifth stage, and a refinement every fifth step.
  for (int variables : {2, 7, 8, 40}) {
    Run run;
    int steps = 0;
    for (; steps < 60; ++steps) {
      for (int v = 0; v < variables; ++v) {
        run.call(residual, (v == 0 ? 4.0 * variables : 0) + 1);
        INFO(variables << " variables, step " << steps);
        const StepRule rule = run.rule(0.1);
        if (rule.path == residual) REQUIRE(rule.every == static_cast<std::uint32_t>(variables));
      }
      if (steps % 5 == 4)
        for (std::uint64_t i = 0; i < 40; ++i) run.call(100 + i % (20 + static_cast<std::uint64_t>(steps) / 10), 0.1);
    }
    INFO(variables);
    const StepRule rule = run.rule(0.1);
    CHECK(rule.path == residual);
    CHECK(rule.every == static_cast<std::uint32_t>(variables));
    CHECK(rule.usual > 4 * variables);
    CHECK(rule.usual < 6 * variables);
  }
}

TEST_CASE("bursts of bursts are not steps either") {
  Run run;
  for (int i = 0; i < 40; ++i)
    for (int group = 0; group < 3; ++group)
      for (int k = 0; k < 4; ++k) run.call(residual, k > 0 ? 0.1 : group > 0 ? 2 : 30);
  CHECK(run.rule().path == residual);
  CHECK(run.rule().every == 12);
}

TEST_CASE("bursts of varying length, with most of the computation between them, contain no step") {
  Run run;
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    run.call(residual, 40);
    for (auto k = 5 + random() % 10; k > 0; --k) run.call(residual, 0.5);
  }
  CHECK(run.rule().path == 0);
}

TEST_CASE("steps that do more at fixed intervals are steps, found as soon as a few of those have been seen") {
  // As in LAMMPS: each step exchanges halos and makes one reduction, and neighbour lists are rebuilt every six steps.
  for (bool sometimes_earlier : {false, true}) {
    Run run;
    for (int step = 0, since = 0; step < 400; ++step) {
      const int until = sometimes_earlier && step % 50 > 40 ? 5 : 6;
      const bool rebuild = ++since == until;
      if (rebuild) since = 0;
      run.exchange();
      run.call(reduction, rebuild ? 4 : 1);
      INFO(sometimes_earlier << ", step " << step);
      const StepRule rule = run.rule();
      if (rule.path != 0 || step > 30) REQUIRE(rule.path == reduction);
      if (rule.path != 0) REQUIRE(rule.every == 1);
    }
  }
}

TEST_CASE("irregular steps with more work are not taken for bursts, wherever most of the computation lies") {
  Run run;
  std::mt19937 random(3);
  for (int i = 0; i < 80; ++i) {
    const bool earlier = random() % 5 == 0;
    for (int k = 0; k < (earlier ? 2 : 3); ++k) run.exchange(), run.call(reduction, 1);
    run.exchange(), run.call(reduction, 5);
  }
  CHECK(run.rule().path == reduction);
  CHECK(run.rule().every == 1);
}

TEST_CASE("calls between which nothing else is called are a burst, even if most of the computation lies in it") {
  // A halo exchange, then a reduction for each of ten variables after a part of the computation.
  Run run;
  for (int step = 0; step < 40; ++step) {
    run.exchange();
    for (int variable = 0; variable < 10; ++variable) run.call(residual, variable == 0 ? 6 : 1);
    INFO(step);
    if (const StepRule rule = run.rule(); rule.path != 0) REQUIRE(rule.every == 10);
  }
  CHECK(run.rule().path == residual);
  CHECK(run.rule().every == 10);
}

TEST_CASE("irregular computation between calls from one place is not a step") {
  Run run;
  std::mt19937 random(5);
  std::lognormal_distribution<double> amount(0, 2.5);
  for (int i = 0; i < 200; ++i) run.call(reduction, amount(random));
  CHECK(run.rule().path == 0);
}

TEST_CASE("steps that occasionally do more are still steps") {
  Run run;
  std::mt19937 random(9);
  for (int i = 0; i < 30; ++i) {
    const int until_sorting = 4 + static_cast<int>(random() % 4);
    for (int k = 0; k < until_sorting; ++k) run.call(reduction, 1);
    run.call(reduction, 5);
  }
  CHECK(run.rule().path == reduction);
  CHECK(run.rule().every == 1);
}

TEST_CASE("the rule depends on the recent past only") {
  Run run;
  for (std::uint64_t i = 0; i < 300; ++i) run.call(100 + i % 50, 1);
  for (int i = 0; i < 60; ++i) run.call(reduction, 2);
  CHECK(run.rule().path == reduction);
}

TEST_CASE("quick calls at the start, and then calls at irregular times, are no steps") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> decades(0, 1.6);
  Run run;
  for (int i = 0; i < 60; ++i) run.call(reduction, 1);
  for (int i = 0; i < 60; ++i) run.call(reduction, 10 * std::pow(10.0, decades(random)));
  CHECK(run.rule().path == 0);
}

TEST_CASE("if the load moves to a rank for a while, the interval between rebalances is not taken for the step") {
  for (const int every : {10, 20}) {
    Run run;
    for (int i = 0; i < 300; ++i) {
      run.call(time_step, i % 37 < 8 ? 4 : 1);
      if (i % every == every - 1) run.call(other, 0.05);
      if (i < 30) continue;
      const StepRule rule = run.rule();
      CAPTURE(every, i);
      CHECK((rule.path == time_step && rule.every == 1));
    }
  }
}
