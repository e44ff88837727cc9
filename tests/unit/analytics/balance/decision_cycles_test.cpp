#include "course.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace effort::balance;

TEST_CASE("a program that divides the work of the next step is recognised, and rebalanced before its work moves",
          "[balance]") {
  // The mesh is adapted at the end of steps 4, 9, ...; a rebalance in the same step divides the new mesh.  Trials
  // divide by the loads of the old one.
  Course course;
  course.price = 0.5;
  course.untouched = [](int s) { return s < 5 ? 0.0 : 0.8; };
  const auto lasts = [](int made_at, int s) { return made_at / 5 == s / 5 ? 0.02 : 0.8; };
  course.fresh = [&](int age, int s) { return lasts(s - age, s); };
  course.real = [&](int age, int s) { return lasts(s - age + 1, s); };
  const Outcome outcome = follow(course, 300, at_price(0.5));
  int in_time = 0;
  for (int s : outcome.rebalanced)
    if (s >= 100) in_time += s % 5 == 4;
  CHECK(in_time == 40);                    // every time
  CHECK(outcome.rebalanced.size() == 60);  // as often as the mesh is adapted

  // A program that does not is asked only once.
  course.real = nullptr;
  const Outcome other = follow(course, 300, at_price(0.5));
  int asked = 0;
  for (int s : other.rebalanced) asked += s % 5 == 4;
  CHECK(asked == 1);

  // A price set by the user disables trials.
  DecisionSettings settings = at_price(0.5);
  settings.trials = false;
  for (int s : follow(course, 300, settings).rebalanced) CHECK(s % 5 != 4);
}
