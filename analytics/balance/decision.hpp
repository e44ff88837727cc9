// Whether rebalancing now would pay.
#pragma once

#include "analytics/balance/forecast.hpp"
#include "analytics/balance/loss.hpp"
#include "analytics/balance/peaks.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace effort::balance {

/// What the user chose.
struct DecisionSettings {
  double threshold = 0.1;     ///< imbalance above which to rebalance while no price is known
  double initial_price = -1;  ///< seconds, until a rebalance was measured; < 0: unknown
  double patience = 5.0;      ///< prices of avoidable loss after which a rebalance is due at the latest, > 0
  double minimum_gain = 0;    ///< share of the coming time that a rebalance must save beside its price, >= 0
  bool trials = true;         ///< below the threshold, a rebalance may be tried to learn its price
  int spacing = 1;            ///< steps between opportunities, >= 1: a fixed window's length
};

/// One step of the run.
struct StepFacts {
  double largest = 0, mean = 0;  ///< load of the largest and the mean rank, seconds
  StepKind kind = StepKind::ordinary;
  struct TrialLoss {
    Predictor predictor{};
    int age = 0;
    double loss = 0;
  };
  std::vector<TrialLoss> trials;  ///< what the step would have lost under the forecast's trials
};

/// The moment of a look: after a step.
struct LookFacts {
  bool stale = false;                      ///< no step of the present distribution was seen since the last look
  double imbalance = 0;                    ///< max / mean - 1 of the mean loads since the last look
  std::array<bool, n_predictors> known{};  ///< what the forecast can predict
};

/// What is made of it.
struct Verdict {
  bool rebalance = false;
  bool trial = false;                     ///< to learn what a rebalance costs and does
  Predictor predictor = Predictor::last;  ///< whose predictions lose least until the next rebalance
  double price = -1;                      ///< seconds; < 0 unknown
  double expected_saving = 0;             ///< seconds, of a rebalance now, until the next good opportunity
  int patience = 1;                       ///< steps until a rebalance is expected to pay, >= 1
  double urgency = 0;                     ///< mean loads lost for each step that a rebalance comes later, learned
  bool balanced = false;                  ///< less than 2 % could be gained by any distribution
  bool too_expensive = false;             ///< imbalanced, but not worth the price
  bool no_price = false;                  ///< no price is known
  bool trend = false;                     ///< the loss grows
  bool jump = false;                      ///< the loss changed abruptly
};

/// The price of a rebalance, as measured: seconds.
class Price {
 public:
  explicit Price(double initial) : initial_(initial) {}
  /// @param seconds  negative, NaN or infinite: not measured
  void add(double seconds);
  /// What the first step of a new distribution took longer than usual, seconds.
  void add_slow_start(double seconds);
  /// The middle of the last three prices (of two the smaller), and of the last slow starts where there were three: what
  /// only one of them shows is something else.  Slow starts count up to the price itself: more may be a peak of the
  /// program's own cycle, in which rebalances have their place.  < 0: unknown.
  double value() const;

 private:
  double initial_;
  std::deque<double> prices_, slow_starts_;
};

/// Decides whether the expected saving of a rebalance exceeds its price.
///
/// The model (docs/adr/0026): a division made a steps ago loses Y(a), learned from trials, whose weights are applied to
/// every step's loads; a real one loses R more (RebalanceEffect, LossLevel).  Schedules of the coming steps (the first
/// rebalance after d steps, then one every n) are compared by what they lose and pay; the cheapest decides.  This is
/// the stop-at-rise rule of Nicol & Saltz 1988 (renewal theory: act when the next step would cost more than the mean
/// step of the best cycle), with the cycle predicted.  What is uncertain counts against a rebalance, the more
/// the longer it needs to pay back; a loss must have lasted the longer, the dearer a mistake would be.
/// Deterministic; not thread-safe; time O(n_predictors x horizon) for a look.
class Decision {
 public:
  explicit Decision(DecisionSettings settings);

  /// The steps from now on have a new distribution.
  /// @param price  seconds; negative, NaN or infinite: unknown
  void rebalanced(double price);
  /// Adds a step, in ascending order.
  void observe(const StepFacts& facts);
  Verdict decide(const LookFacts& facts);

  double price() const { return price_.value(); }

 private:
  struct Plan;
  struct Outlook {
    double now, later, never;  ///< mean loads, prices included, over the horizon
    int delay;                 ///< steps to the first rebalance of the best schedule that waits
    int cycle;                 ///< steps to the one after, of the best that does not
  };
  void learn_effect(double loss);
  bool failed() const;
  int horizon() const;
  Predictor choose(const LookFacts& facts, double price, std::vector<double>& loss) const;
  Outlook look_ahead(const Plan& plan) const;
  bool lasts(double least, double excess, double price) const;
  void describe(Verdict& verdict);

  DecisionSettings settings_;
  std::array<LossCurve, n_predictors> curves_;
  RebalanceEffect effect_, effect_before_;
  LossLevel level_;
  Price price_;
  std::vector<double> fresh_;  ///< loss by age of the predictor last chosen, [1 .. horizon]
  std::deque<double> losses_;  ///< of the last steps under the present distribution, newest last
  StepKind last_kind_ = StepKind::ordinary;
  double mean_ = 0;                      ///< load of the mean rank, smoothed
  double last_mean_ = 0, old_mean_ = 0;  ///< of the last step, and of the last one of the old distribution
  int steps_ = 0;                        ///< of the run
  int age_ = 0;                          ///< steps of the present distribution
  int rebalances_ = 0;
  int asked_ = -1;  ///< step of the first advice since the last rebalance; -1: none
  double urgency_ = 0;
  double delay_ = 0;              ///< steps from advice to act: a host may rebalance at certain steps only
  double seen_ = 0, excess_ = 0;  ///< at the last look: loss above a fresh division's, as seen and as sure to be there
  double before_ = 0;             ///< as seen, before the last rebalance
  double effect_sum_ = 0;         ///< excess in the first steps after it
  double drift_ = 0;              ///< by which the loss grows from step to step of a distribution
  int failures_ = 0;              ///< rebalances in a row, but for the last, that left nearly all
  double avoidable_ = 0;          ///< seconds since the last rebalance
  double last_loss_ = -1;         ///< at the last look
  int rising_ = 0;                ///< looks in a row at which the loss rose
};

}  // namespace effort::balance
