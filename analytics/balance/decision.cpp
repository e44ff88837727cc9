#include "analytics/balance/decision.hpp"

#include <algorithm>
#include <cmath>

namespace effort::balance {
namespace {

constexpr double learning = 0.4;  // weight of the newest window in the learned curve

}  // namespace

void Decision::rebalanced(double price) {
  if (std::isfinite(price) && price >= 0) price_ = price;
  lost_ = 0;
  regret_ = 0;
  last_loss_ = -1;
  age_ = 0;
  ++rebalances_;
}

double Decision::expected_loss(int age) const {
  age = std::min(age, curve_depth);
  int known = age;
  while (known > 0 && seen_[known] == 0) --known;
  const double nearest = seen_[known] > 0 ? curve_[known] : 0.0;
  if (known == age || known < 1 || seen_[known - 1] == 0) return nearest;
  return nearest + (age - known) * std::max(0.0, nearest - curve_[known - 1]);
}

void Decision::learn(const WindowFacts& facts) {
  for (int a = 0; a <= curve_depth; ++a) {
    if (facts.aged[a] < 0) continue;
    const double loss = std::max(0.0, facts.aged[a] - 1);
    curve_[a] = seen_[a] == 0 ? loss : curve_[a] + learning * (loss - curve_[a]);
    ++seen_[a];
  }
}

Verdict Decision::decide(const WindowFacts& facts) {
  Verdict v;
  v.price = price();
  const double steps = static_cast<double>(facts.last_step - facts.first_step + 1);
  lost_ += steps * std::max(0.0, facts.all_critical - facts.all_mean);
  v.lost = lost_;
  v.residual = residual_;
  if (facts.stale || !(facts.mean > 0)) return v;
  learn(facts);
  const double loss = facts.critical / facts.mean - 1;
  ++age_;
  const double reachable = expected_loss(1) + residual_;
  v.balanced = loss - reachable < settings_.minimum_gain;
  v.expected_saving = std::max(0.0, loss - reachable) * facts.mean * steps;
  v.no_price = !(v.price >= 0);
  if (v.no_price) {
    v.rebalance = facts.imbalance > settings_.threshold && facts.steady_imbalance > settings_.threshold;
  } else {
    regret_ += v.expected_saving;
    v.rebalance = !v.balanced && regret_ > settings_.patience * v.price;
    v.too_expensive = !v.rebalance && !v.balanced;
  }
  last_loss_ = loss;
  return v;
}

}  // namespace effort::balance
