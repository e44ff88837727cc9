#include "analytics/balance/decision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace effort::balance {
namespace {

// Constants of the decision, tuned on the recordings (docs/performance.md, docs/adr/0026).
// Losses and excesses are in mean loads, as everywhere in this file.

// Steps over which schedules are compared: as many as the run has had, within these bounds.
constexpr int least_horizon = 100, largest_horizon = 400;
// Share of a new step in the smoothed mean load: a mean over about 10 steps.
constexpr double mean_gain = 0.1;
// Share of a new rebalance in the mean delay from recommendation to rebalance.
constexpr double delay_gain = 0.3;
// Share of a new recommendation in the urgency.
constexpr double urgency_gain = 0.3;
// Share of a new step in the mean growth of the loss.
constexpr double drift_gain = 0.2;
// Steps after a rebalance over which its effect is measured: one step alone is mostly noise.
constexpr int effect_steps = 3;
// Share of the excess that a rebalance must remove, or it has failed.
constexpr double least_effect = 0.25;
// Consecutive failures from which the next rebalance waits until the loss is worth 2^failures prices.
constexpr int failures_allowed = 1;
// Failures counted at most: a rebalancer that always fails then costs 1/64 of the loss.
constexpr int most_failures = 6;
// Factor on the patience with a rebalancer that seems useless.  It is then tried again, because its effect may have
// been misjudged.
constexpr double forgiveness = 16;
// Standard deviations of the present loss that count against a rebalance of slow payback.
constexpr double caution = 1.5;
// Standard deviations of the loss that a rebalance leaves that count against one of slow payback.
constexpr double caution_of_effect = 1;
// Payback, in steps, from which uncertainty counts in full; proportionally less below.
constexpr double slow_payback = 20;
// Saving required on top of the price, in prices.
constexpr double safety_margin = 0.25;
// Probability that a loss disappears with the next step; each step that it has lasted multiplies it by this again.
constexpr double transient_chance = 0.4;
// While no price is known: the price, in units of the imbalance, with which the threshold must be exceeded in two
// consecutive steps.
constexpr double two_step_price = 3;
// Assumed while no price is known: mean steps that may be risked to learn the price.
constexpr double unknown_price = 2;
// Share of the mean load below which a difference does not count as imbalance.
constexpr double equal_loads = 0.02;
// Medians are taken over the last three prices and seven slow starts; slow starts count once three are known.
constexpr std::size_t prices_kept = 3, slow_starts_kept = 7, least_slow_starts = 3;
// Losses kept to see how long a loss has lasted; after 64 steps a transient one is out of the question.
constexpr std::size_t losses_kept = 64;
// Steps until the first rebalance and between rebalances in the schedules compared, about geometric.
constexpr int delays[] = {1, 2, 3, 5, 8, 12, 18, 27, 40, 60};
constexpr int cycles[] = {1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 180, 256};

double middle(std::deque<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

void keep(std::deque<double>& values, double value, std::size_t most) {
  values.push_back(value);
  if (values.size() > most) values.pop_front();
}

std::vector<double> running_sums(const std::vector<double>& loss) {
  std::vector<double> sum(loss.size(), 0.0);
  for (std::size_t a = 1; a < loss.size(); ++a) sum[a] = sum[a - 1] + loss[a];
  return sum;
}

}  // namespace

void Price::add(double seconds) {
  if (std::isfinite(seconds) && seconds >= 0) keep(prices_, seconds, prices_kept);
}

void Price::add_slow_start(double seconds) { keep(slow_starts_, seconds, slow_starts_kept); }

double Price::value() const {
  if (prices_.empty()) return initial_;
  const double price = middle(prices_);
  const double extra = slow_starts_.size() < least_slow_starts ? 0.0 : middle(slow_starts_);
  return price + std::clamp(extra, 0.0, price);
}

/// The costs of schedules, in mean loads.
struct Decision::Plan {
  const std::vector<double>& fresh;  // [1 .. horizon] loss of a fresh division by age
  const std::vector<double> sum;     // running sums of `fresh`
  const RebalanceEffect& effect;
  double price;  // mean steps
  double level;  // loss of the present distribution: above `fresh` if a rebalance made it, else all of it
  double doubt;  // margin on the loss that a rebalance leaves
  bool ages;     // a rebalance made the present distribution, so its loss grows with the age
  int age, horizon;

  double fresh_at(int a) const { return fresh[static_cast<std::size_t>(std::min(a, horizon))]; }
  double fresh_sum(int a) const {
    return a <= horizon ? sum[static_cast<std::size_t>(a)] : sum.back() + (a - horizon) * fresh.back();
  }
  /// Loss of the present distribution after `delay` more steps, and its sum over `steps` steps.
  double present_at(int delay) const { return ages ? level + fresh_at(age + delay) : level; }
  double present_sum(int steps) const { return steps * level + (ages ? fresh_sum(age + steps) - fresh_sum(age) : 0.0); }
  /// Cost of the schedule that rebalances after `delay` steps, then every `cycle` steps.
  double cost(int delay, int cycle) const {
    double sum_so_far = present_sum(delay), loss = present_at(delay);
    for (int left = horizon - delay; left > 0;) {
      const double before = std::max(0.0, loss - fresh_at(1)), above = std::min(before, effect.after(before) + doubt);
      const int steps = left < cycle + cycle / 2 + 1 ? left : cycle;
      sum_so_far += price + fresh_sum(steps) + steps * above;
      loss = above + fresh_at(steps);
      left -= steps;
    }
    return sum_so_far;
  }
};

Decision::Decision(DecisionSettings settings) : settings_(settings), price_(settings.initial_price) {
  LossCurve().tabulate(least_horizon, fresh_);
}

int Decision::horizon() const { return std::clamp(steps_, least_horizon, largest_horizon); }

void Decision::rebalanced(double price) {
  price_.add(price);
  failures_ = failed() ? failures_ + 1 : 0;
  if (advised_at_ >= 0) delay_ += delay_gain * (steps_ - advised_at_ - delay_);
  advised_at_ = -1;
  ++rebalances_;
  age_ = 0;
  avoidable_ = 0;
  last_loss_ = -1;
  rising_ = 0;
  level_.restart();
  losses_.clear();
  excess_before_ = excess_;
  effect_before_ = effect_;
  effect_sum_ = 0;
}

// Learns the effect of the last rebalance from the mean of the first steps after it.
void Decision::learn_effect(double loss) {
  if (rebalances_ == 0 || age_ > effect_steps) return;
  effect_sum_ += loss - fresh_[static_cast<std::size_t>(age_)];
  effect_ = effect_before_;
  // A larger loss than before has other reasons: a rebalance is taken to leave at most the loss before it.
  effect_.observe(excess_before_, std::clamp(effect_sum_ / age_, 0.0, excess_before_));
}

// Whether the last rebalance has failed: it left nearly all of the excess, and the usual growth since does not explain
// the rest.
bool Decision::failed() const {
  const int steps = std::min(age_, effect_steps);
  return rebalances_ > 0 && steps > 0 &&
         effect_sum_ / steps > (1 - least_effect) * excess_before_ + std::max(0.0, drift_);
}

void Decision::observe(const StepFacts& facts) {
  ++steps_;
  ++age_;
  if (!(facts.mean > 0)) return;
  const double loss = std::max(0.0, facts.largest / facts.mean - 1);
  for (const StepFacts::TrialLoss& trial : facts.trials)
    curves_[static_cast<std::size_t>(trial.predictor)].observe(trial.age, trial.loss);
  // A slow start exceeds both the step before and the step after it; a growing load does not.
  if (age_ == 2 && rebalances_ > 0) price_.add_slow_start(last_mean_ - std::max(old_mean_, facts.mean));
  if (age_ == 1) old_mean_ = last_mean_;
  last_mean_ = facts.mean;
  mean_ += (mean_ > 0 ? mean_gain : 1.0) * (facts.mean - mean_);
  if (age_ > 1 && !losses_.empty()) drift_ += drift_gain * (loss - losses_.back() - drift_);
  keep(losses_, loss, losses_kept);
  last_kind_ = facts.kind;
  const auto age = std::min(static_cast<std::size_t>(age_), fresh_.size() - 1);
  level_.observe(loss - (rebalances_ > 0 ? fresh_[age] : 0.0), facts.kind);
  learn_effect(loss);
  avoidable_ += std::max(0.0, loss - fresh_[1]) * facts.mean;
}

// The predictor whose best cycle costs least; sets `loss` to its losses by age.
Predictor Decision::choose_predictor(const LookFacts& facts, double price, std::vector<double>& loss) const {
  auto best = Predictor::last;
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> candidate, reference;
  curves_[0].tabulate(horizon(), reference);  // the last-step predictor, known first
  for (std::size_t p = 0; p < n_predictors; ++p) {
    if (!facts.known[p] || (!curves_[p].known() && std::isfinite(least))) continue;
    curves_[p].tabulate(horizon(), candidate, reference);
    double sum = price, cycle = std::numeric_limits<double>::infinity();
    for (std::size_t n = 1; n < candidate.size(); ++n) {
      sum += candidate[n];
      cycle = std::min(cycle, sum / static_cast<double>(n));
    }
    if (cycle < least) {
      least = cycle;
      best = static_cast<Predictor>(p);
      loss = candidate;
    }
  }
  if (loss.empty()) curves_[0].tabulate(horizon(), loss);
  return best;
}

Decision::ScheduleCosts Decision::compare_schedules(const Plan& plan) const {
  const double infinite = std::numeric_limits<double>::infinity();
  const int spacing = settings_.spacing;
  const auto spaced = [spacing](int steps) { return (steps + spacing - 1) / spacing * spacing; };
  ScheduleCosts best{infinite, infinite, plan.present_sum(plan.horizon), plan.horizon, plan.horizon};
  const auto best_cycle = [&](int delay, auto&& take) {
    int last = 0;
    for (int steps : cycles) {
      const int cycle = std::min(spaced(steps), plan.horizon);
      if (cycle == last) continue;
      last = cycle;
      take(plan.cost(delay, cycle), cycle);
    }
    if (last < plan.horizon) take(plan.cost(delay, plan.horizon), plan.horizon);
  };
  best_cycle(0, [&](double cost, int cycle) {
    if (cost < best.now) {
      best.now = cost;
      best.cycle = cycle;
    }
  });
  best.later = best.never;
  int last = 0;
  for (int steps : delays) {
    const int delay = spaced(steps);
    if (delay == last || delay >= plan.horizon) continue;
    last = delay;
    best_cycle(delay, [&](double cost, int) {
      if (cost < best.later) {
        best.later = cost;
        best.delay = delay;
      }
    });
  }
  return best;
}

// Whether the loss has lasted long enough to justify the price: a loss that has just appeared may disappear again.
// Waiting costs the excess of a step; acting on a transient loss costs the price.
bool Decision::has_persisted(double least, double excess, double price) const {
  int steps = 0;
  for (auto loss = losses_.rbegin(); loss != losses_.rend() && *loss >= least; ++loss) ++steps;
  return steps > 0 && std::pow(transient_chance, steps) * price <= excess;
}

void Decision::describe(Verdict& v) {
  const LossLevel::Estimate now = level_.estimate(1);
  const double loss = losses_.empty() ? 0.0 : losses_.back();
  if (last_loss_ >= 0) {
    const double change = loss - last_loss_;
    rising_ = change > equal_loads ? rising_ + 1 : 0;
    v.trend = rising_ >= 2;
    v.jump = std::fabs(change) > 0.5 * std::max(loss, last_loss_) && std::fabs(change) > 4 * now.error &&
             std::fabs(change) > 0.1;
  }
  last_loss_ = loss;
}

Verdict Decision::decide(const LookFacts& facts) {
  Verdict v;
  v.price = price();
  v.no_price = !(v.price >= 0);
  if (facts.stale || !(mean_ > 0) || level_.steps() == 0) return v;
  const double price = v.no_price ? unknown_price : v.price / mean_;
  v.predictor = choose_predictor(facts, price, fresh_);
  const int n = horizon();
  const double first = fresh_[1];
  const bool ages = rebalances_ > 0;
  const int age = age_ + static_cast<int>(delay_ + 0.5);  // at the step in which the host will act
  const double meanwhile = ages ? fresh_[static_cast<std::size_t>(std::min(age + 1, n))] -
                                      fresh_[static_cast<std::size_t>(std::min(age_ + 1, n))]
                                : 0.0;
  const double ageing = ages ? fresh_[static_cast<std::size_t>(std::min(age + 1, n))] : 0.0;
  LossLevel::Estimate now = level_.estimate(1);
  const auto payback = [&] {
    const double before = std::max(0.0, now.level + ageing - first);
    return price / std::max(before - effect_.after(before), 1e-9);
  };
  now = level_.estimate(payback());
  excess_ = std::max(0.0, now.level + ageing - first);
  const double doubted = std::min(1.0, payback() / slow_payback);
  sure_excess_ = std::max(0.0, excess_ - doubted * caution * now.error);

  // A trial is made to learn what a rebalance leaves, so its uncertainty does not count (optimism under uncertainty:
  // Auer et al. 2002).
  const double doubt = v.no_price ? 0.0 : doubted * caution_of_effect * effect_.uncertainty(excess_);
  const Plan plan{fresh_, running_sums(fresh_), effect_, price, now.level - (excess_ - sure_excess_), doubt, ages, age,
                  n};
  const ScheduleCosts costs = compare_schedules(plan);
  const double saving = costs.never - (costs.now - price);
  const bool pays = costs.now < costs.later && saving > price * (1 + safety_margin) + settings_.minimum_gain * n;
  const int failures = failures_ + (failed() ? 1 : 0);
  const bool pauses =
      failures >= failures_allowed && avoidable_ < std::ldexp(price * mean_, std::min(failures, most_failures));
  const bool worth_it = pays && !pauses && last_kind_ != StepKind::peak &&
                        has_persisted(first + 0.5 * sure_excess_ - meanwhile, sure_excess_, price);
  v.patience = std::max(1, costs.delay);
  v.expected_saving = std::max(0.0, plan.present_sum(costs.cycle) - plan.fresh_sum(costs.cycle) -
                                        costs.cycle * effect_.after(excess_)) *
                      mean_;
  describe(v);
  v.balanced = excess_ < equal_loads;
  if (v.no_price) {
    v.rebalance = facts.imbalance > settings_.threshold &&
                  has_persisted(settings_.threshold, facts.imbalance, two_step_price * facts.imbalance);
    v.trial = !v.rebalance && settings_.trials && worth_it;
    v.rebalance = v.rebalance || v.trial;
  } else {
    // Rent or buy (Karlin et al. 1988): once the avoidable loss exceeds `patience` prices, a rebalance is recommended
    // regardless.
    const bool useless = effect_.after(sure_excess_) >= 0.5 * sure_excess_;
    const double patience = settings_.patience * v.price * (useless ? forgiveness : 1.0);
    const bool overdue = avoidable_ > patience && sure_excess_ > equal_loads;
    v.rebalance = worth_it || (overdue && (useless || costs.now < costs.never));
    v.too_expensive = !v.rebalance && !v.balanced && facts.imbalance > settings_.threshold;
  }
  if (v.rebalance) {
    v.balanced = false;
    if (advised_at_ < 0) advised_at_ = steps_;
    urgency_ += urgency_gain * (sure_excess_ - urgency_);
  }
  v.urgency = urgency_;
  return v;
}

}  // namespace effort::balance
