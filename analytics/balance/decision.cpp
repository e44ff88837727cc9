#include "analytics/balance/decision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace effort::balance {
namespace {

// Everything that was tuned, on recordings and on synthetic runs of other shapes.
constexpr int least_horizon = 8;         // windows that are looked ahead,
constexpr int horizon_steps = 80;        // or steps, if these are more: a price in steps must be able to pay off in short windows too
constexpr double forgetting = 0.8;       // of what was learned of the loss at an age, per window
constexpr double first_growth = 1.5;     // a first guess from half a window: loss grows in proportion to age
constexpr double first_window = 0.85;    // loss at age 1 against that of half a window, whose mean is noisier
constexpr double growth_exponent = 0.4;  // of loss with age where the age was not seen lately
constexpr double prior_weight = 1.0;     // of that guess, in windows
constexpr double assurance = 0.25;       // of the price, by which the saving must exceed it
constexpr double cheap = 3.0;             // prices: no more is asked of the saving than so many beyond the price itself
constexpr int longest_cycle = 64;        // windows between rebalances, of the cadences that are compared
constexpr double futile = 0.9;            // of the loss before: a rebalance that leaves more has not helped
constexpr double worse = 1.25;            // of the loss before: a pause ends
constexpr int tries = 3;                 // rebalances in a row that may fail to help before a pause
constexpr int longest_pause = 16;         // windows without recommendation after rebalances that did not help
constexpr std::size_t prices_kept = 3;
constexpr double equal_loads = 0.02;     // of the mean: less is not told apart from balance

}  // namespace

void LossByAge::forget() {
  for (int a = 0; a <= curve_depth; ++a) {
    sum_[a] *= forgetting;
    weight_[a] *= forgetting;
  }
}

void LossByAge::observe(int age, double loss) {
  if (age < 0 || age > curve_depth || !(loss >= 0)) return;
  sum_[age] += loss;
  weight_[age] += 1;
}

double LossByAge::at(int age) const {
  const bool first = *std::max_element(weight_.begin() + 1, weight_.end()) <= 0;
  if (first) return weight_[0] > 0 ? sum_[0] / weight_[0] * first_growth * age : 0.0;
  double loss = 0;
  bool known = false;
  for (int a = 0; a <= age; ++a) {
    const double guess = a <= 1 ? first_window * loss : loss * std::pow(a / (a - 1.0), growth_exponent);
    const double weight = a <= curve_depth ? weight_[a] : 0.0;
    if (weight <= 0) loss = guess;
    else if (!known) loss = sum_[a] / weight;
    else loss = (sum_[a] + prior_weight * guess) / (weight + prior_weight);
    known = known || weight > 0;
  }
  return loss;
}

int LossByAge::oldest() const {
  int age = curve_depth;
  while (age > 1 && weight_[age] <= 0) --age;
  return age;
}

void Decision::rebalanced(double price) {
  price_is_fresh_ = std::isfinite(price) && price >= 0;
  if (price_is_fresh_) prices_.push_back(price);
  if (prices_.size() > prices_kept) prices_.erase(prices_.begin());
  lost_ = 0;
  avoidable_ = 0;
  last_loss_ = -1;
  rising_ = 0;
  age_ = 0;
  ++rebalances_;
}

double Decision::price() const {
  if (prices_.empty()) return settings_.initial_price;
  std::vector<double> sorted = prices_;
  std::sort(sorted.begin(), sorted.end());
  return sorted[(sorted.size() - 1) / 2];
}

double Decision::measured_loss(const WindowFacts& facts) const {
  // Steps that stand out on one rank or another look like a loss, but no distribution of the work would avoid them:
  // beyond what is steady, no more is believed than a fresh distribution would lose to noise.
  return std::max(0.0, std::min(facts.critical / facts.mean - 1, facts.steady_imbalance + loss_.at(1)));
}

// Whoever rebalances without getting better is told to pause, each time twice as long; one that helps ends that.
void Decision::judge_last(double loss) {
  if (pause_ > 0) --pause_;
  if (loss > worse * before_) pause_ = futile_ = 0;  // another imbalance than the one that could not be helped
  if (rebalances_ == 0 || age_ != 1 || before_ <= 0) return;
  if (loss < futile * before_) {
    next_pause_ = 2;
    futile_ = 0;
    return;
  }
  if (++futile_ < tries) return;  // the loads of one window may have been a bad guess
  pause_ = next_pause_;
  next_pause_ = std::min(2 * next_pause_, longest_pause);
}

void Decision::learn(const WindowFacts& facts, double loss) {
  loss_.forget();
  for (int a = 0; a <= curve_depth; ++a)
    if (facts.aged[a] >= 0) loss_.observe(a, std::max(0.0, facts.aged[a] - 1));
  ++age_;
  if (rebalances_ > 0) loss_.observe(age_, loss);
}

Decision::Decision(DecisionSettings settings)
    : settings_(settings), horizon_(std::max(least_horizon, horizon_steps / std::max(settings.window, 1))) {}

Decision::Outlook Decision::look_ahead(double loss, double foretold_ageing, double price) const {
  const int horizon = horizon_;
  // after[i]: cheapest continuation of a rebalance that takes effect after i windows, its own price left out.
  std::vector<double> aged(horizon + 1), after(horizon + 1, 0.0);
  // What is known of losses holds times of more noise and of less.  Where this window lost less than usual at its age, so would a
  // fresh distribution; but that is worth trying only where to be wrong costs next to nothing.
  const double usual = rebalances_ > 0 ? loss_.at(age_) : 0.0;
  const double calm = usual > 0 && price < equal_loads ? std::min(1.0, loss / usual) : 1.0;
  for (int a = 1; a <= horizon; ++a) aged[a] = calm * loss_.at(a);
  for (int i = horizon - 1; i >= 0; --i) {
    double sum = 0, best = std::numeric_limits<double>::infinity();
    for (int j = i + 1; j <= horizon; ++j) {
      sum += aged[j - i];
      if (j == horizon) best = std::min(best, sum);
      else if (j - i >= settings_.spacing) best = std::min(best, sum + price + after[j]);
    }
    after[i] = best;
  }
  Outlook outlook{};
  outlook.now = price + after[0];
  outlook.later = std::numeric_limits<double>::infinity();
  for (int j = 1; j <= horizon; ++j) {
    // A distribution that a rebalance made goes on ageing; the one the run began with stays as good or bad as it is.
    const double ageing = rebalances_ > 0 ? calm * std::max(0.0, loss_.at(age_ + j) - usual) : 0.0;
    outlook.never += loss + std::max(ageing, foretold_ageing);
    if (j < horizon) outlook.later = std::min(outlook.later, outlook.never + price + after[j]);
  }
  outlook.later = std::min(outlook.later, outlook.never);
  return outlook;
}

// The mean cost of a window, prices included, of the best steady cadence: a loss below it is not avoidable.
double Decision::sustainable(double price) const {
  double sum = price, best = std::numeric_limits<double>::infinity();
  for (int windows = 1; windows <= longest_cycle; ++windows) {
    sum += loss_.at(std::min(windows, loss_.oldest()));  // ages never seen get the benefit of the doubt
    best = std::min(best, sum / windows);
  }
  return best;
}

void Decision::describe(double loss, Verdict& v) {
  if (last_loss_ >= 0) {
    const double change = loss - last_loss_;
    rising_ = change > equal_loads ? rising_ + 1 : 0;
    v.trend = rising_ >= 2;
    v.jump = std::fabs(change) > 0.5 * std::max(loss, last_loss_) && std::fabs(change) > 2 * loss_.at(0) &&
             std::fabs(change) > 0.1;
  }
  last_loss_ = loss;
}

Verdict Decision::decide(const WindowFacts& facts) {
  Verdict v;
  if (price_is_fresh_) prices_.back() += facts.after_rebalance;
  price_is_fresh_ = price_is_fresh_ && facts.stale;  // only the first window of the new distribution shows it
  v.price = price();
  const double steps = static_cast<double>(facts.last_step - facts.first_step + 1);
  lost_ += steps * std::max(0.0, facts.all_critical - facts.all_mean);
  v.lost = lost_;
  v.no_price = !(v.price >= 0);
  if (facts.stale || !(facts.mean > 0)) return v;
  const double loss = measured_loss(facts);
  learn(facts, loss);
  v.residual = loss_.at(1);
  judge_last(loss);
  describe(loss, v);
  v.balanced = facts.imbalance + facts.foretold_ageing < equal_loads;
  if (v.no_price) {
    v.rebalance = facts.imbalance > settings_.threshold && facts.steady_imbalance > settings_.threshold;
    v.balanced = !v.rebalance && (v.balanced || loss - loss_.at(1) < equal_loads);
    return v;
  }
  // All in units of the mean rank's load over one window.
  const double unit = facts.mean * settings_.window;
  const double price = v.price / unit;
  v.balanced = v.balanced && facts.foretold_ageing <= price * (1 + assurance);
  const Outlook outlook = look_ahead(loss, facts.foretold_ageing, price);
  const double saving = outlook.never - (outlook.now - price);
  v.expected_saving = std::max(0.0, saving) * unit;
  if (loss > sustainable(price)) avoidable_ += std::max(0.0, loss - loss_.at(1)) * facts.mean * steps;
  // A mistake costs a price: where that is next to nothing, a small gain is enough.
  const double least = price * (1 + assurance) + std::min(cheap * price, settings_.minimum_gain * horizon_ * (1 + loss));
  const bool worth_it = outlook.now < outlook.later && saving > least;
  // Rent or buy (Karlin et al. 1988): whoever has lost several prices stops waiting for a better moment.
  const bool overdue = avoidable_ > settings_.patience * v.price && loss - loss_.at(1) > settings_.minimum_gain;
  v.rebalance = !v.balanced && (worth_it || overdue) && pause_ == 0;
  // In a row of rebalances, what the first of them found is what all are measured against.
  const double coming = loss + facts.foretold_ageing;
  if (v.rebalance) before_ = age_ == 1 ? std::max(before_, coming) : coming;
  v.balanced = !v.rebalance && (v.balanced || saving < equal_loads * horizon_);  // not even free of charge
  v.too_expensive = !v.rebalance && !v.balanced && facts.imbalance > settings_.threshold;
  return v;
}

}  // namespace effort::balance
