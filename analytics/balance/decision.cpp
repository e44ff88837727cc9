#include "analytics/balance/decision.hpp"

#include "analytics/balance/schedules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace effort::balance {
namespace {

// Constants of the decision, tuned on the recordings (docs/performance/decision.md, docs/adr/0026).
// Losses and excesses are in mean loads, as everywhere in this file.

// Steps over which schedules are compared: as many as the run has had, between least_horizon and largest_horizon, or
// fewer if the loads are expected to shift earlier.
constexpr int shortest_horizon = 3, least_horizon = 100, largest_horizon = 400;
// Share of a new step in the smoothed mean load: a mean over about 10 steps.
constexpr double mean_gain = 0.1;
// Share of a new rebalance in the mean delay from recommendation to rebalance.
constexpr double delay_gain = 0.3;
// Share of a new recommendation in the urgency.
constexpr double urgency_gain = 0.3;
// Share of a new step in the mean growth of the loss.
constexpr double drift_gain = 0.2;
// Share of the change in peaks predicted by trials that is believed before any rebalance has confirmed it.
constexpr double peaks_may_move = 0.8;
// Whether peaks move with the work is learned only from a rebalance that trials expect to change the loss of peaks by
// more than this share.
constexpr double clear_change = 0.2;
// Steps after a rebalance over which its effect is measured: one step alone is mostly noise.
constexpr int effect_steps = 3;
static_assert(effect_steps <= shortest_horizon);  // losses by age are tabulated up to the horizon
// A rebalance that removes less than this share of the excess has failed, unless what it removes pays the price within
// soon_paid steps: a rebalancer that moves a little each time may be worth its price (docs/adr/0052).
constexpr double least_effect = 0.25;
constexpr double soon_paid = 10;
// After this many consecutive failures, the next rebalance waits until the loss is worth 2^failures prices.
constexpr int failures_allowed = 1;
// Limit of the failures counted: a rebalancer that always fails then costs 1/64 of the loss.
constexpr int most_failures = 6;
// Factor by which the patience grows if the rebalancer seems useless.  Once that is exceeded, a rebalance is tried
// again, because its effect may have been misjudged.
constexpr double forgiveness = 16;
// Standard deviations of the present loss that count against a rebalance with a slow payback.
constexpr double caution = 1.5;
// Standard deviations of the remaining loss that count against a rebalance with a slow payback.
constexpr double caution_of_effect = 1;
// Payback, in steps, from which uncertainty counts in full; proportionally less below.
constexpr double slow_payback = 20;
// Saving required on top of the price, as a multiple of the price.
constexpr double safety_margin = 0.25;
// Probability that a loss disappears by itself after one step.  Each further step multiplies it by this factor again.
constexpr double transient_chance = 0.4;
// Assumed while no price is known: a price, in units of the imbalance, that makes a rebalance wait until the threshold
// has been exceeded in two consecutive steps.
constexpr double two_step_price = 3;
// While no price is known: the share of the imbalance that a fresh division must be sure to remove.
constexpr double least_removed = 0.4;
// Assumed while no price is known: mean steps that may be risked to learn the price.
constexpr double unknown_price = 2;
// While no price is known: mean steps that a fresh division would have saved before a rebalance is recommended.  A few
// steps show whether a loss lasts (rent or buy: Karlin et al. 1988).
constexpr double least_lost = 1.5;
// The same, but enough for a rebalance even if a fresh division may not remove least_removed.  If loads scatter from
// step to step, it is uncertain how much a fresh division would remove now, but not that it would have helped all the
// time.
constexpr double lost_without_proof = 3;
// Share of the mean load below which a difference does not count as imbalance.
constexpr double equal_loads = 0.02;
// Mean loads kept to see whether the first step of a distribution is slower than others.
constexpr std::size_t means_kept = 8;
// Losses kept to see how long a loss has lasted.  After 64 steps it can no longer be a transient one.
constexpr std::size_t losses_kept = 64;
}  // namespace

Decision::Decision(DecisionSettings settings)
    : settings_(settings), price_(settings.initial_price), peaks_move_(settings.trials ? peaks_may_move : 0) {
  own_ = next_ = fresh_.reference(least_horizon);
}

int Decision::horizon() const {
  const int prior = std::clamp(steps_, least_horizon, largest_horizon);
  return std::clamp(static_cast<int>(regimes_.remaining(prior)), shortest_horizon, prior);
}

void Decision::rebalanced(double price) {
  if (pending_.mean > 0) learn_peak(pending_);
  pending_ = {};
  price_.add(price, loss_);
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
  loss_before_ = loss_;
  effect_before_ = effect_;
  effect_sum_ = 0;
  own_ = next_;
  own_predictor_ = predictor_;
  peak_before_ = own_peak_;
  peak_expected_ = fresh_.in_peak(predictor_, own_peak_);
  own_peak_ = in_peak(predictor_);
  peak_seen_ = false;
  made_at_ = steps_;
}

// Learns the effect of the last rebalance from the mean of the first steps after it.
void Decision::learn_effect(double loss) {
  if (rebalances_ == 0 || age_ > effect_steps) return;
  effect_sum_ += loss - own_[static_cast<std::size_t>(age_)];
  effect_ = effect_before_;
  // A loss that is larger than before has other causes, so a rebalance is assumed to leave at most the loss before it.
  effect_.observe(excess_before_, std::clamp(effect_sum_ / age_, 0.0, excess_before_));
}

// Whether the last rebalance has failed: it removed too little of the excess, and what it removed does not pay for it
// soon.
bool Decision::failed() const {
  const int steps = std::min(age_, effect_steps);
  if (rebalances_ == 0 || steps == 0) return false;
  // Without the rebalance, the loss would have grown as usual.
  const double removed = excess_before_ + std::max(0.0, drift_) - effect_sum_ / steps;
  const PriceLine price = price_.line();
  return removed < least_effect * excess_before_ &&
         !(price.known() && removed * mean_ * soon_paid > price.at(loss_before_));
}

void Decision::observe(const StepFacts& facts) {
  ++steps_;
  ++age_;
  regimes_.step();
  if (!(facts.mean > 0)) return;
  double last = -1;
  for (const TrialLoss& trial : facts.trials)
    if (trial.predictor == Predictor::last && trial.age == 1) last = trial.loss;
  // A rebalance that removes a recurring loss must not hide the cycle that it was made for.
  const bool hidden = age_ == 1 && rebalances_ > 0 && fresh_.may_anticipate(own_predictor_, made_at_);
  fresh_.step(facts.mean, hidden ? -1.0 : last);
  if (pending_.mean > 0) {
    StepFacts held;
    std::swap(held, pending_);
    if (facts.kind == StepKind::new_level)
      learn(held, steps_ - 1);
    else
      learn_peak(held);
  }
  if (facts.shift) begin_regime();
  last_kind_ = facts.kind;
  if (facts.kind == StepKind::peak)
    pending_ = facts;
  else
    learn(facts, steps_);
}

// The loss of a peak is weighted by the length of its step.
void Decision::learn_peak(const StepFacts& facts) {
  const double weight = mean_ > 0 ? facts.mean / mean_ : 1.0;
  fresh_.learn_peak(facts.trials, weight, peak_seen_);
  const double loss = weight * std::max(0.0, facts.largest / facts.mean - 1);
  own_peak_ += (peak_seen_ ? FreshLoss::peak_gain : 1.0) * (loss - own_peak_);
  const double expected = peak_expected_ - peak_before_;
  if (!peak_seen_ && std::fabs(expected) > clear_change * peak_before_)
    peaks_move_ = std::clamp((loss - peak_before_) / expected, 0.0, 1.0);
  peak_seen_ = true;
}

// The loss of a peak under a division by the predictor, in usual mean loads.  The work of a peak may stay on its rank,
// as a checkpoint that one rank writes does.  A division is therefore credited with a smaller loss than today's only to
// the extent that the last rebalance changed the peaks.  Before the first rebalance it gets most of the credit, because
// one rebalance shows whether peaks move.
double Decision::in_peak(Predictor predictor) const {
  const double loss = fresh_.in_peak(predictor, own_peak_);
  return loss < own_peak_ ? own_peak_ + peaks_move_ * (loss - own_peak_) : loss;
}

// The loads shifted in the step before this one.
void Decision::begin_regime() {
  regimes_.shift(2);
  level_.restart();
  if (!losses_.empty()) level_.observe(above_own(losses_.back().loss, age_ - 1));
}

// The part of the present distribution's loss that its age does not explain.
double Decision::above_own(double loss, int age) const {
  return loss - (rebalances_ > 0 ? own_[std::min(static_cast<std::size_t>(age), own_.size() - 1)] : 0.0);
}

void Decision::learn(const StepFacts& facts, int step) {
  const double loss = std::max(0.0, facts.largest / facts.mean - 1), above = above_own(loss, age_);
  if (rebalances_ > 0) fresh_.learn_real(own_predictor_, made_at_, age_, loss, loss - above);
  fresh_.learn(step, facts.trials, made_at_);
  // A slow start takes longer than both the steps before it and the step after it.  This excludes a growing load, and
  // a step that recurs, such as one that refines the mesh.
  if (age_ == 1 && rebalances_ > 0) {
    first_mean_ = facts.mean;
  } else {
    if (age_ == 2 && rebalances_ > 0 && !means_.empty())
      price_.add_slow_start(first_mean_ - std::max(*std::max_element(means_.begin(), means_.end()), facts.mean));
    means_.push_back(facts.mean);
    if (means_.size() > means_kept) means_.pop_front();
  }
  mean_ += (mean_ > 0 ? mean_gain : 1.0) * (facts.mean - mean_);
  if (age_ > 1 && !losses_.empty()) drift_ += drift_gain * (loss - losses_.back().loss - drift_);
  losses_.push_back({loss, above});
  if (losses_.size() > losses_kept) losses_.pop_front();
  level_.observe(above);
  learn_effect(loss);
  avoidable_ += std::max(0.0, loss - next_[1]) * facts.mean;
}

// In a program with peaks, the mean of all steps is used only once it contains a peak.
bool Decision::can_predict(Predictor predictor, const LookFacts& facts) const {
  return facts.known[static_cast<std::size_t>(predictor)] &&
         !(predictor == Predictor::mean && fresh_.peak_rate() > 0 && !peak_seen_);
}

// Chooses the predictor whose best cycle costs least.
void Decision::choose_predictor(const LookFacts& facts, double price, std::span<const double> reference) {
  const int n = horizon();
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> candidate;
  predictor_ = Predictor::last;
  next_.assign(reference.begin(), reference.end());
  for (int p = 0; p < n_predictors; ++p) {
    const auto predictor = static_cast<Predictor>(p);
    if (!can_predict(predictor, facts) || (!fresh_.known(predictor) && std::isfinite(least))) continue;
    fresh_.tabulate(predictor, acts_at(), n, reference, candidate);
    double sum = price, cycle = std::numeric_limits<double>::infinity();
    for (int a = 1; a <= n; ++a) {
      sum += candidate[static_cast<std::size_t>(a)] + fresh_.peak_rate() * in_peak(predictor);
      cycle = std::min(cycle, sum / a);
    }
    if (cycle >= least) continue;
    least = cycle;
    predictor_ = predictor;
    next_ = candidate;
  }
}

// Whether the loss has lasted long enough to justify the price: a loss that has just appeared may disappear again.
// Waiting costs the excess of a step; acting on a transient loss costs the price.
bool Decision::has_persisted(double SeenLoss::*kind, double least, double excess, double price) const {
  int steps = 0;
  least -= fresh_.peak_rate() * own_peak_;
  for (auto seen = losses_.rbegin(); seen != losses_.rend() && *seen.*kind >= least; ++seen) ++steps;
  return steps > 0 && std::pow(transient_chance, steps) * price <= excess;
}

void Decision::describe(Verdict& v) {
  const LossLevel::Estimate now = level_.estimate(1);
  const double loss = losses_.empty() ? 0.0 : losses_.back().loss;
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
  const PriceLine line = price_.line();
  v.no_price = !line.known();
  v.price = price_.typical();
  if (facts.stale || !(mean_ > 0) || level_.steps() == 0) return v;
  const PriceLine in_steps =
      v.no_price ? PriceLine{unknown_price, 0} : PriceLine{line.fixed / mean_, line.slope / mean_};
  const int n = horizon();
  const std::vector<double> reference = fresh_.reference(n);
  choose_predictor(facts, in_steps.at(loss_), reference);
  v.predictor = predictor_;
  const bool ages = rebalances_ > 0;
  if (ages) fresh_.tabulate(own_predictor_, made_at_, n, reference, own_);
  const double first = next_[1] + fresh_.peak_rate() * in_peak(predictor_);
  const int age = age_ + acts_at() - steps_;
  const auto own_at = [&](int a) { return ages ? own_[static_cast<std::size_t>(std::min(a, n))] : 0.0; };
  const double ageing = own_at(age + 1);
  // Removing a loss for which no rank waits gains nothing.
  const double unawaited = facts.unawaited / mean_;
  const auto estimate = [&](double payback) {
    LossLevel::Estimate now = level_.estimate(payback);
    now.level += fresh_.peak_rate() * own_peak_ - unawaited;
    return now;
  };
  LossLevel::Estimate now = estimate(1);
  const auto coming = [&] { return std::max(0.0, now.level + ageing); };
  const auto payback = [&] {
    const double before = std::max(0.0, coming() - first);
    return in_steps.at(coming()) / std::max(before - effect_.after(before), 1e-9);
  };
  now = estimate(payback());
  loss_ = coming();
  excess_ = std::max(0.0, loss_ - first);
  const double doubted = std::min(1.0, payback() / slow_payback);
  sure_excess_ = std::max(0.0, excess_ - doubted * caution * now.error);
  const double price = in_steps.at(loss_);
  // A trial is made to learn what a rebalance leaves, so its uncertainty does not count (optimism under uncertainty:
  // Auer et al. 2002).
  const double doubt = v.no_price ? 0.0 : doubted * caution_of_effect * effect_.uncertainty(excess_);
  Prospects prospects{.fresh = {},
                      .own = Ageing(own_),
                      .effect = effect_,
                      .price = in_steps,
                      .level = now.level - (excess_ - sure_excess_),
                      .doubt = doubt,
                      .ages = ages,
                      .age = age,
                      .horizon = n,
                      .spacing = settings_.spacing,
                      .soonest = facts.next_look};
  std::vector<double> table;
  prospects.fresh.emplace_back(next_, fresh_.peak_rate() * in_peak(predictor_));
  for (int d = 1; d < fresh_.period(); ++d) {
    fresh_.tabulate(predictor_, acts_at() + d, n, reference, table);
    prospects.fresh.emplace_back(table, fresh_.peak_rate() * in_peak(predictor_));
  }
  const ScheduleCosts costs = compare_schedules(prospects);
  const double saving = costs.never - (costs.now - price);
  const bool pays = costs.now < costs.later && saving > price * (1 + safety_margin) + settings_.minimum_gain * n;
  const int failures = failures_ + (failed() ? 1 : 0);
  const bool pauses =
      failures >= failures_allowed && avoidable_ < std::ldexp(price * mean_, std::min(failures, most_failures));
  const bool worth_it =
      pays && !pauses && last_kind_ != StepKind::peak &&
      has_persisted(&SeenLoss::above, first + unawaited + 0.5 * sure_excess_ - ageing, sure_excess_, price);
  v.patience = std::max(1, costs.delay);
  v.expected_saving = std::max(0.0, prospects.present_sum(costs.length) - prospects.made(0).sum(costs.length) -
                                        costs.length * effect_.after(excess_)) *
                      mean_;
  describe(v);
  v.balanced = excess_ < equal_loads;
  if (v.no_price) {
    // Loads that move faster than they can be followed are imbalanced under any division.
    const bool helps = settings_.threshold_binds ||
                       (sure_excess_ > least_removed * facts.imbalance && avoidable_ > least_lost * mean_) ||
                       (sure_excess_ > equal_loads && avoidable_ > lost_without_proof * mean_);
    v.rebalance =
        helps && facts.imbalance > settings_.threshold &&
        has_persisted(&SeenLoss::loss, settings_.threshold, facts.imbalance, two_step_price * facts.imbalance);
    v.trial = !v.rebalance && settings_.trials && worth_it;
    v.rebalance = v.rebalance || v.trial;
  } else {
    // Rent or buy (Karlin et al. 1988): once the avoidable loss exceeds `patience` prices, a rebalance is recommended
    // regardless.
    const bool useless = effect_.after(sure_excess_) >= 0.5 * sure_excess_;
    const double patience = settings_.patience * price * mean_ * (useless ? forgiveness : 1.0);
    const bool overdue = avoidable_ > patience && sure_excess_ > equal_loads;
    v.rebalance = worth_it || (overdue && (useless || costs.now < costs.never));
    // A program that adapts its mesh at the end of a step may divide the new mesh in the same step.  Trials cannot show
    // this, so a real rebalance is tried if the possible saving over the horizon exceeds its price.
    const double possible_gain = fresh_.trial_gain(predictor_, acts_at()) * n / fresh_.period();
    v.trial = !v.rebalance && settings_.trials && !pauses && possible_gain > price * (1 + safety_margin);
    v.rebalance = v.rebalance || v.trial;
    v.too_expensive = !v.rebalance && !v.balanced && facts.imbalance > settings_.threshold;
  }
  if (v.rebalance) {
    v.balanced = false;
    if (advised_at_ < 0) advised_at_ = steps_;
    urgency_ += urgency_gain * (sure_excess_ - urgency_);
  }
  v.urgency = urgency_;
  // The first trials may soon show that a rebalance helps.  The longer they fail to, the less likely it is that the
  // next look shows it.
  const bool undecided = v.no_price && !v.rebalance && facts.imbalance > settings_.threshold;
  undecided_steps_ = undecided ? undecided_steps_ + (steps_ - last_look_) : 0;
  last_look_ = steps_;
  if (undecided) {
    v.patience = std::min(v.patience, undecided_steps_);
    v.urgency = std::max(urgency_, excess_);
  }
  return v;
}

}  // namespace effort::balance
