// Decides whether a rebalance now would pay.
#pragma once

#include "analytics/balance/forecast.hpp"
#include "analytics/balance/fresh_loss.hpp"
#include "analytics/balance/loss.hpp"
#include "analytics/balance/peaks.hpp"
#include "analytics/balance/price.hpp"
#include "analytics/balance/shifts.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace effort::balance {

/// Settings of the user.
struct DecisionSettings {
  double threshold = 0.1;        ///< imbalance above which to rebalance while the price is unknown
  double initial_price = -1;     ///< seconds, used until a rebalance has been measured; < 0: unknown
  double patience = 5.0;         ///< avoidable loss, in prices, after which a rebalance is recommended regardless, > 0
  double minimum_gain = 0;       ///< share of the coming time that a rebalance must save on top of its price, >= 0
  bool threshold_binds = false;  ///< above the threshold, trials need not show that a rebalance helps
  bool trials = true;            ///< a rebalance below the threshold may be recommended to learn its price
  int spacing = 1;               ///< steps between possible rebalances, >= 1: the length of a fixed window
};

/// Observation of one step.
struct StepFacts {
  double largest = 0, mean = 0;  ///< largest and mean load of the ranks, seconds
  StepKind kind = StepKind::ordinary;
  bool shift = false;             ///< the loads shifted in the step before this one
  std::vector<TrialLoss> trials;  ///< losses of this step under the forecast's trials
};

/// The state at a look, which comes after a step.
struct LookFacts {
  bool stale = false;                      ///< no step of the present distribution since the last look
  double imbalance = 0;                    ///< max / mean - 1 of the mean loads since the last look
  double unawaited = 0;                    ///< seconds per step of the loss for which no rank waits, >= 0
  int next_look = 1;                       ///< fewest steps until the next look, >= 1
  std::array<bool, n_predictors> known{};  ///< predictors with enough steps
};

/// The decision of a look.
struct Verdict {
  bool rebalance = false;
  bool trial = false;                     ///< recommended to learn the price and effect of a rebalance
  Predictor predictor = Predictor::last;  ///< the predictor expected to lose least until the next rebalance
  double price = -1;                      ///< measured, seconds; < 0: unknown
  double expected_saving = 0;             ///< seconds that a rebalance now saves until the next good opportunity
  int patience = 1;                       ///< steps until a rebalance may pay or a look may recommend one, >= 1
  double urgency = 0;                     ///< loss per step by which a rebalance is delayed, in mean loads
  bool balanced = false;                  ///< no distribution could gain 2 % or more
  bool too_expensive = false;             ///< imbalanced, but not worth the price
  bool no_price = false;                  ///< no price is known
  bool trend = false;                     ///< the loss grows
  bool jump = false;                      ///< the loss changed abruptly
};

/// Decides whether the expected saving of a rebalance exceeds its price.
///
/// The model is described in docs/adr/0026, 0029 and 0030.  Y(a), the loss of a division that is `a` steps old, is
/// learned by applying the weights of trials to every step's loads (FreshLoss).  A real rebalance leaves an additional
/// loss R (RebalanceEffect, LossLevel).  Schedules of the coming steps are compared by their losses and prices
/// (compare_schedules), and the cheapest one decides.  This is the stop-at-rise rule of Nicol & Saltz 1988 (renewal
/// theory: act when the next step would cost more than the mean step of the best cycle) with a predicted cycle.
/// Uncertainty counts against a rebalance, and more so the longer the payback time.  The higher the price, the longer a
/// loss must have persisted.
///
/// Deterministic; not thread-safe; time O((n_predictors + period) x horizon) per look.
class Decision {
 public:
  explicit Decision(DecisionSettings settings);

  /// A rebalance took place: the following steps have a new distribution.
  /// @param price  seconds; negative, NaN or infinite: unknown
  void rebalanced(double price);
  /// Adds a step, in ascending order.
  void observe(const StepFacts& facts);
  Verdict decide(const LookFacts& facts);

 private:
  struct SeenLoss {
    double loss = 0, above = 0;  // of a step; the part not explained by the age of the distribution
  };
  void learn(const StepFacts& facts, int step);
  void learn_peak(const StepFacts& facts);
  void begin_regime();
  void learn_effect(double loss);
  double above_own(double loss, int age) const;
  bool failed() const;
  int horizon() const;
  /// The step after which the host will act on a recommendation made now.
  int acts_at() const { return steps_ + static_cast<int>(delay_ + 0.5); }
  bool can_predict(Predictor predictor, const LookFacts& facts) const;
  void choose_predictor(const LookFacts& facts, double price, std::span<const double> reference);
  double in_peak(Predictor predictor) const;
  bool has_persisted(double SeenLoss::*kind, double least, double excess, double price) const;
  void describe(Verdict& verdict);

  DecisionSettings settings_;
  FreshLoss fresh_;
  RebalanceEffect effect_, effect_before_;
  LossLevel level_;
  Regimes regimes_;
  Price price_;
  Predictor predictor_ = Predictor::last;       ///< chosen at the last look
  std::vector<double> next_;                    ///< [1 .. horizon] loss by age of its division
  Predictor own_predictor_ = Predictor::last;   ///< the one that made the present division
  std::vector<double> own_;                     ///< [1 .. horizon] loss by age of the present division
  int made_at_ = 0;                             ///< step whose loads the present division was made from
  double own_peak_ = 0;                         ///< loss of a peak under the present division, in usual mean loads
  double peak_before_ = 0, peak_expected_ = 0;  ///< a peak's loss under the previous division; as trials expect it now
  double peaks_move_;            ///< share of the expected change of peaks that the last rebalance brought, 0 to 1
  bool peak_seen_ = false;       ///< there has been a peak under the present division
  StepFacts pending_;            ///< the last step, if it stands out: the next one shows whether it was a peak
  std::deque<SeenLoss> losses_;  ///< of recent steps under the present distribution, newest last
  StepKind last_kind_ = StepKind::ordinary;
  double mean_ = 0;           ///< mean load, smoothed
  double first_mean_ = 0;     ///< mean load of the present distribution's first step
  std::deque<double> means_;  ///< mean loads of recent steps, except the first ones after rebalances
  int steps_ = 0;             ///< steps of the run so far
  int age_ = 0;               ///< steps since the last rebalance
  int rebalances_ = 0;
  int advised_at_ = -1;  ///< step of the first recommendation since the last rebalance; -1: none
  double urgency_ = 0;
  double delay_ = 0;          ///< mean steps from recommendation to rebalance: a host may act at certain steps only
  double excess_ = 0;         ///< at the last look: loss above that of a fresh division
  double sure_excess_ = 0;    ///< lower bound of excess_, given the error of the loss
  double loss_ = 0;           ///< at the last look: expected for the next step without a rebalance
  double loss_before_ = 0;    ///< loss_ before the last rebalance
  double excess_before_ = 0;  ///< excess_ before the last rebalance
  double effect_sum_ = 0;     ///< sum of the excesses in the first steps after the last rebalance
  double drift_ = 0;          ///< mean growth of the loss per step, rebalances left out
  int failures_ = 0;          ///< consecutive failed rebalances before the last one
  double avoidable_ = 0;      ///< seconds lost since the last rebalance that a fresh division would have saved
  double last_loss_ = -1;     ///< loss at the last look; -1: none
  int last_look_ = 0;         ///< step of the last look
  int undecided_steps_ = 0;   ///< steps for which the imbalance has exceeded the threshold without a recommendation
  int rising_ = 0;            ///< consecutive looks at which the loss rose
};

}  // namespace effort::balance
