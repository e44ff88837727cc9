#include "analytics/balance/decision.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <limits>

using namespace effort::balance;

namespace {

// A window in which the largest rank carries 1 + loss, and a fresh distribution would carry 1 + fresh at any age.
WindowFacts window(int k, double loss, double fresh, double unit = 1) {
  WindowFacts f;
  f.first_step = 10 * k;
  f.last_step = 10 * k + 9;
  f.mean = f.all_mean = unit;
  f.critical = f.all_critical = unit * (1 + loss);
  f.imbalance = f.steady_imbalance = loss;
  f.aged.fill(-1);
  if (k == 0) f.aged[0] = 1 + fresh;
  for (int a = 1; a <= k && a <= curve_depth; ++a) f.aged[a] = 1 + fresh;
  return f;
}

}  // namespace

TEST_CASE("a balanced run is never told to rebalance, at any price", "[balance]") {
  for (double price : {0.0, 0.1, 1.0, 100.0}) {
    DecisionSettings settings;
    settings.initial_price = price;
    Decision decision(settings);
    for (int k = 0; k < 50; ++k) CHECK_FALSE(decision.decide(window(k, 0.01, 0.01)).rebalance);
  }
}

TEST_CASE("ranks that are balanced, but not for long, are worth a cheap rebalance", "[balance]") {
  const auto recommended = [](double price, double ageing) {
    DecisionSettings settings;
    settings.initial_price = price;
    Decision decision(settings);
    int count = 0;
    for (int k = 0; k < 10; ++k) {
      WindowFacts f = window(k, 0.015, 0.015);
      f.foretold_ageing = ageing;
      count += decision.decide(f).rebalance;
    }
    return count > 0;
  };
  CHECK_FALSE(recommended(0.1, 0.0));
  CHECK(recommended(0.1, 0.05));
  // What grows by less than 2 % is still balanced, unless a rebalance costs less than that.
  CHECK_FALSE(recommended(0.02, 0.002));
  CHECK(recommended(0.01, 0.004));
}

TEST_CASE("a large constant loss is answered at once, a smaller one within the patience", "[balance]") {
  DecisionSettings settings;
  settings.initial_price = 5;
  Decision large(settings);
  CHECK(large.decide(window(0, 3.0, 0.05)).rebalance);
  settings.initial_price = 20;
  Decision small(settings);
  int first = -1;
  for (int k = 0; k < 100 && first < 0; ++k)
    if (small.decide(window(k, 0.2, 0.02)).rebalance) first = k;
  // 0.18 x 10 steps are lost per window; 5 prices of 20 are reached in the 56th.
  CHECK(first > 0);
  CHECK(first <= 56);
}

TEST_CASE("the verdict does not depend on the unit of time", "[balance]") {
  DecisionSettings a, b;
  a.initial_price = 8;
  b.initial_price = 8 * 1024;
  Decision one(a), other(b);
  for (int k = 0; k < 30; ++k) {
    const double loss = 0.1 * (k % 12);
    CHECK(one.decide(window(k, loss, 0.1)).rebalance == other.decide(window(k, loss, 0.1, 1024)).rebalance);
  }
}

TEST_CASE("rebalancing that does not help is not repeated", "[balance]") {
  // Every rebalance leaves the loss where it was: three tries, then pauses of 2, 4, 8 and 16 windows: 7 in 40 windows.
  DecisionSettings settings;
  settings.initial_price = 2;
  Decision decision(settings);
  int count = 0;
  for (int k = 0; k < 40; ++k) {
    WindowFacts f = window(k, 0.8, 0.1);
    if (count > 0) f.aged.fill(-1);
    if (!decision.decide(f).rebalance) continue;
    decision.rebalanced(2);
    ++count;
  }
  CHECK(count >= 1);
  CHECK(count <= 8);
}

TEST_CASE("the threshold decides while no price is known, and bad prices stay unknown", "[balance]") {
  Decision decision{DecisionSettings{}};
  CHECK_FALSE(decision.decide(window(0, 0.09, 0.01)).rebalance);
  CHECK(decision.decide(window(1, 0.11, 0.01)).rebalance);
  decision.rebalanced(std::numeric_limits<double>::quiet_NaN());
  CHECK(decision.price() < 0);
  decision.rebalanced(-4);
  CHECK(decision.price() < 0);
  decision.rebalanced(4);
  CHECK(decision.price() == 4);
  decision.rebalanced(std::numeric_limits<double>::infinity());
  CHECK(decision.price() == 4);
}

TEST_CASE("a run that is told to rebalance is not called balanced in the same breath", "[balance]") {
  int told = 0, balanced = 0;
  for (double price : {-1.0, 0.0, 0.1, 5.0})
    for (double fresh : {0.0, 0.15, 0.3}) {
      DecisionSettings settings;
      settings.initial_price = price;
      Decision decision(settings);
      for (int k = 0; k < 40; ++k) {
        const Verdict v = decision.decide(window(k, 0.08 * (k % 5), fresh));
        CHECK_FALSE((v.rebalance && v.balanced));
        CHECK_FALSE((v.rebalance && v.too_expensive));
        told += v.rebalance;
        balanced += v.balanced;
        if (v.rebalance && price >= 0) decision.rebalanced(price);
      }
    }
  CHECK(told > 10);
  CHECK(balanced > 10);
}

TEST_CASE("one price that stands out is not believed alone", "[balance]") {
  Decision decision{DecisionSettings{}};
  decision.rebalanced(60);  // the first callback took a minute: nothing else is known
  CHECK(decision.price() == 60);
  decision.rebalanced(1);
  CHECK(decision.price() == 1);
  decision.rebalanced(3);
  CHECK(decision.price() == 3);
  decision.rebalanced(2);
  CHECK(decision.price() == 2);
  decision.rebalanced(500);
  CHECK(decision.price() == 3);
}

TEST_CASE("a rebalance that takes a minute is advised again when the loss has paid for several", "[balance]") {
  Decision decision{DecisionSettings{}};
  decision.rebalanced(60);
  int first = -1;
  for (int k = 0; k < 1000 && first < 0; ++k) {
    const Verdict verdict = decision.decide(window(k, 0.5, 0.05));
    if (verdict.rebalance) first = k;
    else CHECK(verdict.too_expensive);
  }
  // 4.5 s are avoidable in a window of 10 steps: 5 prices of 60 s are lost in the 67th.
  CHECK(first > 10);
  CHECK(first <= 67);
}

TEST_CASE("a small gain is enough where a rebalance costs next to nothing", "[balance]") {
  for (double price : {0.01, 2.0}) {
    DecisionSettings settings;
    settings.initial_price = price;
    settings.patience = 1000;
    Decision decision(settings);
    int recommended = 0;
    for (int k = 0; k < 20; ++k) recommended += decision.decide(window(k, 0.06, 0.02)).rebalance;
    CHECK((recommended > 0) == (price < 1));
  }
}

TEST_CASE("after noisy windows a cheap rebalance is tried as soon as it is calm", "[balance]") {
  const auto recommended = [](double price) {
    DecisionSettings settings;
    settings.initial_price = price;
    Decision decision(settings);
    const auto ageing = [](int k, double loss, double fresh) {
      WindowFacts f = window(k, loss, fresh);
      for (int a = 2; a <= curve_depth && a <= k; ++a) f.aged[a] = 1 + fresh * (1 + 0.3 * (a - 1));
      return f;
    };
    for (int k = 0; k < 3; ++k) {
      decision.decide(ageing(k, 0.3, 0.3));
      decision.rebalanced(price);
    }
    decision.decide(ageing(3, 0.05, 0.05));
    return decision.decide(ageing(4, 0.065, 0.05)).rebalance;
  };
  CHECK(recommended(0.05));
  CHECK_FALSE(recommended(0.21));
}

TEST_CASE("patience does not run out over a loss that no cadence of rebalances would avoid", "[balance]") {
  // A fresh distribution is better for one window and worse from then on; rebalancing every window costs too much.
  DecisionSettings settings;
  settings.initial_price = 3;
  Decision decision(settings);
  for (int k = 0; k < 200; ++k) {
    WindowFacts f = window(k, 0.4, 0.2);
    for (int a = 2; a <= curve_depth && a <= k; ++a) f.aged[a] = 1.9;
    CHECK_FALSE(decision.decide(f).rebalance);
  }
}

TEST_CASE("a stale window recommends nothing", "[balance]") {
  Decision decision{DecisionSettings{}};
  WindowFacts f = window(0, 5, 0);
  f.stale = true;
  CHECK_FALSE(decision.decide(f).rebalance);
}
