// The loss to imbalance and the effect of a rebalance on it, both learned during the run.  The loss of a step is
// largest / mean load - 1.
#pragma once

#include "analytics/balance/forecast.hpp"

#include <array>
#include <deque>
#include <span>
#include <vector>

namespace effort::balance {

/// Loss of a fresh division of the work as a function of its age in steps, measured at the trials of one predictor.
/// Recent steps count most.
class LossCurve {
 public:
  void observe(int age, double loss);
  bool known() const;
  /// Returns this curve with the mean of `other` added as one more observation in each class of ages.
  LossCurve drawn_to(const LossCurve& other) const;
  /// Writes the losses at ages 1 to n to out[1 .. n].  They do not decrease within the observed ages.  Beyond these,
  /// they grow like `reference` ([1 .. n]), the curve of a predictor that was observed at more ages.  Without a
  /// reference, each doubling of the age adds as much as between the two oldest observed classes.
  void tabulate(int n, std::vector<double>& out, std::span<const double> reference = {}) const;

 private:
  struct Seen {
    double loss = 0, age = 0, weight = 0;
  };
  std::array<Seen, n_age_classes> seen_{};
};

/// The loss that a rebalance leaves: excess after = floor + share x excess before.  The excess is the loss above that
/// of an ideal fresh division.  Linear regression with a Gaussian prior (Bishop, Pattern Recognition and Machine
/// Learning, 2006, section 3.3).  A rebalancer that moves a bounded amount leaves a share; one with coarse pieces
/// leaves a floor.
class RebalanceEffect {
 public:
  RebalanceEffect();
  void observe(double before, double after);
  /// Expected excess after a rebalance, 0 to `before`.
  double after(double before) const;
  /// Standard deviation of after(before).
  double uncertainty(double before) const;

 private:
  double aa_, ab_ = 0, bb_, a_, b_ = 0;  // precision and right-hand side, in units of the noise
};

/// Estimates the present loss by the exponentially weighted mean that has predicted best so far.
class LossLevel {
 public:
  struct Estimate {
    double level = 0;
    double error = 0;  ///< standard deviation
  };
  /// A new distribution begins: the means restart, but their error statistics are kept.
  void restart();
  void observe(double loss);
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
