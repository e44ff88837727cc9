#include "analytics/balance/decision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace effort::balance {
namespace {

constexpr int least_horizon = 100,
              largest_horizon = 400;   // steps that are looked ahead; between them, as many as the run has had
constexpr double mean_gain = 0.1;      // of a step, in the smoothed mean load
constexpr double delay_gain = 0.3;     // of a rebalance, in the mean time from advice to act
constexpr double urgency_gain = 0.3;   // of a recommended rebalance
constexpr double drift_gain = 0.2;     // of a step, in how the loss grows without rebalances
constexpr int effect_steps = 3;        // after a rebalance, in which its effect is measured
constexpr double least_effect = 0.25;  // of the excess, that a rebalance takes away, or it has failed
constexpr int failures_allowed = 1;    // in a row; then the loss must be worth twice as many prices each time
constexpr int most_failures = 6;       // that count: at most 1/64 of what is lost is spent on a rebalancer that fails
constexpr double forgiveness = 16;     // times the patience, after which one that seems useless is tried again
constexpr double caution =
    1.5;  // standard deviations of the present loss that count against a rebalance that pays back
constexpr double slow_payback = 20;      // in so many steps or more; proportionally less for faster ones
constexpr double caution_of_effect = 1;  // standard deviations of what a rebalance leaves
constexpr double assurance = 0.25;       // prices that it must save beside its own
constexpr double chance = 0.4;           // that a loss ends with the next step, halved for every step it has lasted
constexpr double sure_price = 3;         // steps of the loss: a threshold must be exceeded for two steps in a row
constexpr double unknown_price = 2;      // mean steps that are risked to learn a price
constexpr double equal_loads = 0.02;     // of the mean: less is not told apart from balance
constexpr std::size_t prices_kept = 3, slow_starts_kept = 7, slow_starts_believed = 3, losses_kept = 64;
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
  const double extra = slow_starts_.size() < slow_starts_believed ? 0.0 : middle(slow_starts_);
  return price + std::clamp(extra, 0.0, price);
}

/// A schedule's costs, in mean loads.
struct Decision::Plan {
  const std::vector<double>& fresh;  // [1 .. horizon] loss of a fresh division by age
  const std::vector<double> sum;     // running sums of it
  const RebalanceEffect& effect;
  double price;  // mean steps
  double level;  // loss of the present distribution above `fresh`, or altogether where it was not made by a rebalance
  double doubt;  // of what a rebalance leaves
  bool ages;     // it was made by one, and goes on ageing
  int age, horizon;

  double at(int a) const { return fresh[static_cast<std::size_t>(std::min(a, horizon))]; }
  double to(int a) const {
    return a <= horizon ? sum[static_cast<std::size_t>(a)] : sum.back() + (a - horizon) * fresh.back();
  }
  double now_at(int delay) const { return ages ? level + at(age + delay) : level; }
  double kept(int steps) const { return steps * level + (ages ? to(age + steps) - to(age) : 0.0); }
  /// Of one that rebalances after `delay` steps, then every `cycle`.
  double cost(int delay, int cycle) const {
    double sum_so_far = kept(delay), loss = now_at(delay);
    for (int left = horizon - delay; left > 0;) {
      const double before = std::max(0.0, loss - at(1)), above = std::min(before, effect.after(before) + doubt);
      const int steps = left < cycle + cycle / 2 + 1 ? left : cycle;
      sum_so_far += price + to(steps) + steps * above;
      loss = above + at(steps);
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
  if (asked_ >= 0) delay_ += delay_gain * (steps_ - asked_ - delay_);
  asked_ = -1;
  ++rebalances_;
  age_ = 0;
  avoidable_ = 0;
  last_loss_ = -1;
  rising_ = 0;
  level_.restart();
  losses_.clear();
  before_ = seen_;
  effect_before_ = effect_;
  effect_sum_ = 0;
}

// What a rebalance did shows in the first steps after it; a few of them, since one step is noise.
void Decision::learn_effect(double loss) {
  if (rebalances_ == 0 || age_ > effect_steps) return;
  effect_sum_ += loss - fresh_[static_cast<std::size_t>(age_)];
  effect_ = effect_before_;
  // A loss above the one before it has grown by itself: no rebalance leaves more than there was.
  effect_.observe(before_, std::clamp(effect_sum_ / age_, 0.0, before_));
}

// The last rebalance left nearly all that there was, and what has come since as from any step to the next.
bool Decision::failed() const {
  const int steps = std::min(age_, effect_steps);
  return rebalances_ > 0 && steps > 0 && effect_sum_ / steps > (1 - least_effect) * before_ + std::max(0.0, drift_);
}

void Decision::observe(const StepFacts& facts) {
  ++steps_;
  ++age_;
  if (!(facts.mean > 0)) return;
  const double loss = std::max(0.0, facts.largest / facts.mean - 1);
  for (const StepFacts::TrialLoss& trial : facts.trials)
    curves_[static_cast<std::size_t>(trial.predictor)].observe(trial.age, trial.loss);
  // More than the step before it and the one after: loads that grow are no slow start.
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

// The predictor whose best cycle costs least, and its losses by age.
Predictor Decision::choose(const LookFacts& facts, double price, std::vector<double>& loss) const {
  auto best = Predictor::last;
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> candidate, reference;
  curves_[0].tabulate(horizon(), reference);  // the first to be known
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

Decision::Outlook Decision::look_ahead(const Plan& plan) const {
  const double infinite = std::numeric_limits<double>::infinity();
  const int spacing = settings_.spacing;
  const auto spaced = [spacing](int steps) { return (steps + spacing - 1) / spacing * spacing; };
  Outlook outlook{infinite, infinite, plan.kept(plan.horizon), plan.horizon, plan.horizon};
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
    if (cost < outlook.now) {
      outlook.now = cost;
      outlook.cycle = cycle;
    }
  });
  outlook.later = outlook.never;
  int last = 0;
  for (int steps : delays) {
    const int delay = spaced(steps);
    if (delay == last || delay >= plan.horizon) continue;
    last = delay;
    best_cycle(delay, [&](double cost, int) {
      if (cost < outlook.later) {
        outlook.later = cost;
        outlook.delay = delay;
      }
    });
  }
  return outlook;
}

// A loss that came with the last step may go with the next.  Waiting costs what is lost meanwhile, a mistake the price.
bool Decision::lasts(double least, double excess, double price) const {
  int steps = 0;
  for (auto loss = losses_.rbegin(); loss != losses_.rend() && *loss >= least; ++loss) ++steps;
  return steps > 0 && std::pow(chance, steps) * price <= excess;
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
  v.predictor = choose(facts, price, fresh_);
  const int n = horizon();
  const double first = fresh_[1];
  const bool ages = rebalances_ > 0;
  const int age = age_ + static_cast<int>(delay_ + 0.5);  // at which the host will act
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
  seen_ = std::max(0.0, now.level + ageing - first);
  const double doubted = std::min(1.0, payback() / slow_payback);
  excess_ = std::max(0.0, seen_ - doubted * caution * now.error);

  // A trial is to tell what a rebalance leaves: it is tried in good faith (optimism under uncertainty: Auer et al.
  // 2002).
  const double doubt = v.no_price ? 0.0 : doubted * caution_of_effect * effect_.uncertainty(seen_);
  const Plan plan{fresh_, running_sums(fresh_), effect_, price, now.level - (seen_ - excess_), doubt, ages, age, n};
  const Outlook outlook = look_ahead(plan);
  const double saving = outlook.never - (outlook.now - price);
  const bool pays = outlook.now < outlook.later && saving > price * (1 + assurance) + settings_.minimum_gain * n;
  const int failures = failures_ + (failed() ? 1 : 0);
  const bool pauses =
      failures >= failures_allowed && avoidable_ < std::ldexp(price * mean_, std::min(failures, most_failures));
  const bool worth_it =
      pays && !pauses && last_kind_ != StepKind::peak && lasts(first + 0.5 * excess_ - meanwhile, excess_, price);
  v.patience = std::max(1, outlook.delay);
  v.expected_saving =
      std::max(0.0, plan.kept(outlook.cycle) - plan.to(outlook.cycle) - outlook.cycle * effect_.after(seen_)) * mean_;
  describe(v);
  v.balanced = seen_ < equal_loads;
  if (v.no_price) {
    v.rebalance = facts.imbalance > settings_.threshold &&
                  lasts(settings_.threshold, facts.imbalance, sure_price * facts.imbalance);
    v.trial = !v.rebalance && settings_.trials && worth_it;
    v.rebalance = v.rebalance || v.trial;
  } else {
    // Rent or buy (Karlin et al. 1988): once the avoidable loss exceeds several prices, there is no waiting for a
    // better moment. A rebalancer that seems useless is tried again much later, since its effect may have been
    // misjudged.
    const bool useless = effect_.after(excess_) >= 0.5 * excess_;
    const double patience = settings_.patience * v.price * (useless ? forgiveness : 1.0);
    const bool overdue = avoidable_ > patience && excess_ > equal_loads;
    v.rebalance = worth_it || (overdue && (useless || outlook.now < outlook.never));
    v.too_expensive = !v.rebalance && !v.balanced && facts.imbalance > settings_.threshold;
  }
  if (v.rebalance) {
    v.balanced = false;
    if (asked_ < 0) asked_ = steps_;
    urgency_ += urgency_gain * (excess_ - urgency_);
  }
  v.urgency = urgency_;
  return v;
}

}  // namespace effort::balance
