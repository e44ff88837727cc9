// What is lost to imbalance, and what a rebalance does about it, as learned on the run.  A loss is largest load / mean
// load - 1 of a step.
#pragma once

#include "analytics/balance/forecast.hpp"
#include "analytics/balance/peaks.hpp"

#include <array>
#include <deque>
#include <span>
#include <vector>

namespace effort::balance {

/// Loss of a fresh division of the work by its age in steps.  Seen at the trials of one predictor; recent steps count
/// most.
class LossCurve {
 public:
  void observe(int age, double loss);
  bool known() const;
  /// Losses at ages 1 to n into out[1 .. n]; non-decreasing within what was seen.  Beyond it they grow as the
  /// `reference` does, a predictor's that was seen at more ages, [1 .. n]; without one, by as much per doubling of the
  /// age as between the two oldest classes seen.
  void tabulate(int n, std::vector<double>& out, std::span<const double> reference = {}) const;

 private:
  struct Seen {
    double loss = 0, age = 0, weight = 0;
  };
  std::array<Seen, n_age_classes> seen_{};
};

/// How much of the loss a rebalance leaves: excess after = floor + share x excess before, where the excess is over the
/// loss of an ideal fresh division.  Linear regression with a Gaussian prior (Bishop, Pattern Recognition and Machine
/// Learning, 2006, section 3.3); a rebalancer that moves bounded amounts has a share, one of coarse pieces a floor.
class RebalanceEffect {
 public:
  RebalanceEffect();
  void observe(double before, double after);
  /// Expected excess after a rebalance, 0 to `before`.
  double after(double before) const;
  /// Standard deviation of that.
  double uncertainty(double before) const;

 private:
  double aa_, ab_ = 0, bb_, a_, b_ = 0;  // precision and right-hand side, in units of the noise
};

/// The present loss: an exponentially weighted mean of recent steps, over as many as would have predicted best so far.
class LossLevel {
 public:
  struct Estimate {
    double level = 0;
    double error = 0;  ///< standard deviation
  };
  /// A new distribution begins: levels start afresh, what is known of their errors stays.
  void restart();
  /// @param kind  a peak is followed by the slowest mean only
  void observe(double loss, StepKind kind);
  /// @param payback  steps over which the estimate must hold
  Estimate estimate(double payback) const;
  int steps() const { return steps_; }

 private:
  static constexpr int n_means = 4, n_horizons = 3;
  using Means = std::array<double, n_means>;
  int steps_ = 0;
  Means mean_{};
  std::deque<Means> past_;  // newest last
  std::deque<double> losses_;
  std::array<Means, n_horizons> miss_{};  // absolute errors, weighted
  std::array<double, n_horizons> weight_{};
};

}  // namespace effort::balance
