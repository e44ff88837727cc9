// Predicts the ranks' loads step by step, and remembers what it would have predicted some steps ago.
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
  last = 0,        ///< as in the last step
  recent = 1,      ///< exponentially weighted mean of about 3 steps
  smooth = 2,      ///< of about 10 steps
  mean = 3,        ///< mean of all steps of the present distribution, peaks included
  trend = 4,       ///< the line through about 3 steps (Holt 1957)
  slow_trend = 5,  ///< through about 10 steps
  work = 6,        ///< as the work of the last step, at what the rank has taken for its work over the last 20 or so
  work_trend = 7,  ///< as the line through the work of about 3 steps, likewise
};
inline constexpr int n_predictors = 8;

/// Steps of one distribution that a predictor needs before it differs from a simpler one.
int steps_needed(Predictor predictor);

/// How old a remembered prediction can get: one is kept per power of two, 1, 2, 3 to 4, 5 to 8, ... steps.
inline constexpr int n_age_classes = 8;
inline constexpr int oldest_age = 1 << (n_age_classes - 1);
/// The class of an age in steps, 1 to oldest_age.
int age_class(int age);

/// The division of the work that a rebalance some steps ago would have made: each rank's load is multiplied by its
/// weight.
struct Trial {
  Predictor predictor{};
  int age = 0;                 ///< steps ago, >= 1
  std::vector<double> weight;  ///< [columns] mean / predicted load, at most 20
};

/// Of a line that follows values: shares of what is new in its level and slope.
struct Gains {
  double level, slope;
};

/// Loads of the ranks of one node under one distribution of the work.  The last column is the mean over all ranks of
/// the run, which makes weights independent of how ranks are spread over nodes.  Not thread-safe; deterministic. Memory
/// O(columns x n_predictors x n_age_classes).
class Forecast {
 public:
  /// Forgets everything: a new distribution begins.
  /// @param columns  ranks of the node, and one for the mean
  void reset(std::size_t columns);
  std::size_t columns() const { return last_.size(); }
  /// Steps since the reset.
  int steps() const { return steps_; }

  /// Adds one step.
  /// @param load  [columns] seconds
  /// @param work  [columns] what the ranks' units of work are worth, seconds, and the mean load; empty: not known
  /// @param kind  a peak counts in the mean alone, until the next step shows that it is a new level
  void observe(std::span<const double> load, std::span<const double> work, StepKind kind);

  bool knows(Predictor predictor) const;
  /// @param ahead  steps from the last one to the one predicted, >= 1
  /// @param out    [columns] seconds, >= 0
  void predict(Predictor predictor, double ahead, std::span<double> out) const;
  /// What rebalances some steps before the coming step would have made of it.
  const std::vector<Trial>& trials() const { return trials_; }

  std::size_t bytes() const;

 private:
  struct Line {
    std::vector<double> level, slope;
    void learn(std::span<const double> values, Gains gains, int steps);
  };
  void learn(std::span<const double> load);
  void learn_work(std::span<const double> load, std::span<const double> work, bool peak);
  void predict_from_work(double ahead, std::span<double> out) const;
  void remember();

  int steps_ = 0;
  int ordinary_ = 0;          // steps that are no peaks
  std::vector<double> held_;  // the last step's loads, where it was a peak
  std::vector<double> last_, recent_, smooth_, mean_;
  std::array<Line, 2> line_;
  int worked_ = 0;            // steps whose work is known, without a gap
  std::vector<double> work_;  // of the last step
  Line work_line_;
  std::vector<double> per_work_;  // seconds per second's worth of work: a rank keeps that when work is divided anew
  std::vector<int> per_work_steps_;
  std::vector<Trial> trials_;  // oldest first
};

}  // namespace effort::balance
