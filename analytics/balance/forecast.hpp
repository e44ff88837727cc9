// Predicts the ranks' loads step by step, and keeps earlier predictions to measure how they age.
#pragma once

#include "analytics/balance/peaks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::balance {

/// How a rank's load in the coming steps is predicted from its load in the past ones.
enum class Predictor : std::int32_t {
  last = 0,            ///< the load of the last step
  recent = 1,          ///< exponentially weighted mean of about 3 steps
  smooth = 2,          ///< exponentially weighted mean of about 10 steps
  mean = 3,            ///< mean of all steps of the present distribution, including peaks
  trend = 4,           ///< line through about 3 steps (Holt 1957)
  slow_trend = 5,      ///< line through about 10 steps
  work = 6,            ///< the work of the last step x the rank's time per work over about the last 20 steps
  work_trend = 7,      ///< line through the work of about 3 steps x the same time per work
  carried_recent = 8,  ///< exponentially weighted mean of about 3 steps, carried over rebalances
  carried_smooth = 9,  ///< exponentially weighted mean of about 10 steps, carried over rebalances
  peak = 10,           ///< mean of the last peaks, carried over rebalances
};
inline constexpr int n_predictors = 11;

/// Steps that a predictor needs before it differs from a simpler one.  Predictors that are carried over rebalances
/// count all steps, the others those of one distribution.
int steps_needed(Predictor predictor);

/// Classes of the age of a kept prediction: one per power of two, that is 1, 2, 3 to 4, 5 to 8, ... steps.
inline constexpr int n_age_classes = 8;
inline constexpr int oldest_age = 1 << (n_age_classes - 1);
/// The class of an age in steps, 1 to oldest_age.
int age_class(int age);

/// The division of the work that a rebalance some steps ago would have made.  Multiplying each rank's load by its
/// weight gives the load it would have today.
struct Trial {
  Predictor predictor{};
  int age = 0;                 ///< steps ago, >= 1
  std::vector<double> weight;  ///< [columns] mean / predicted load, at most 20
};

/// Gains of Holt's linear smoothing: the share of a new value in the level and in the slope.
struct Gains {
  double level, slope;
};

/// Predicts the loads of one node's ranks under one distribution of the work.  The last column is the mean over all
/// ranks of the run, so that weights do not depend on how ranks are assigned to nodes.  Not thread-safe; deterministic.
/// Memory O(columns x n_predictors x n_age_classes).
class Forecast {
 public:
  /// Forgets everything.  A new distribution begins, and it is not known how the loads were moved.
  /// @param columns  ranks of the node, plus one for the mean
  void reset(std::size_t columns);
  /// A new distribution begins.  Means, peaks and trials are carried over to it: each rank's past loads are multiplied
  /// by the change of its load.  Without this, a program that is rebalanced in every step would never show how a
  /// division ages, and means would contain one step only.
  /// @param change  [columns] expected load after the rebalance / before it, > 0; 1 for the mean
  void redistribute(std::span<const double> change);
  std::size_t columns() const { return last_.size(); }
  /// Steps since the reset.
  int steps() const { return steps_; }

  /// Adds one step.
  /// @param load  [columns] seconds
  /// @param work  [columns] cost of the ranks' units of work, seconds, and the mean load; empty: not known
  /// @param kind  a peak counts only in the mean, until the next step shows that it is a new level
  void observe(std::span<const double> load, std::span<const double> work, StepKind kind);

  /// The loads shifted: forgets earlier loads (except in the mean of all steps) and the trials made from them.
  /// @param steps  since the shift, including the step in which it happened, >= 1
  void begin_regime(int steps);

  bool knows(Predictor predictor) const;
  /// @param ahead  steps from the last one to the one predicted, >= 1
  /// @param out    [columns] seconds, >= 0
  void predict(Predictor predictor, double ahead, std::span<double> out) const;
  /// The divisions that rebalances in past steps would have made, with their ages in the coming step.
  const std::vector<Trial>& trials() const { return trials_; }

  std::size_t bytes() const;

 private:
  struct Line {
    std::vector<double> level, slope;
    void learn(std::span<const double> values, Gains gains, int steps);
  };
  void restart(std::size_t columns);
  void learn(std::span<const double> load);
  void learn_peak();
  void learn_work(std::span<const double> load, std::span<const double> work, bool peak);
  void predict_from_work(double ahead, std::span<double> out) const;
  void remember();

  int steps_ = 0;
  int ordinary_ = 0;          // steps that are not peaks
  std::vector<double> held_;  // loads of the last step if it was a peak
  std::vector<double> last_, recent_, smooth_, mean_;
  std::array<Line, 2> line_;
  int carried_ = 0, peaks_ = 0;  // ordinary steps and peaks in the means that are carried over
  std::vector<double> carried_recent_, carried_smooth_, peak_;
  int worked_ = 0;            // consecutive steps whose work is known
  std::vector<double> work_;  // work of the last step
  Line work_line_;
  std::vector<double> per_work_;  // measured / modelled seconds; kept when work is divided again
  std::vector<int> per_work_steps_;
  std::vector<Trial> trials_;  // oldest first
};

}  // namespace effort::balance
