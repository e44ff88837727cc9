// Finds abrupt, lasting changes of the loads (shifts) and learns how long the loads stay between them.
#pragma once

#include <deque>

namespace effort::balance {

/// Finds shifts from the losses of two trials of the last-value predictor.  In the step of a shift, a division made one
/// step earlier is bad.  One step later, a division made before the shift is still bad, so the change lasts.  Neither
/// sign depends on the present distribution.  Uses basic arithmetic only, so all nodes get the same result from the
/// same losses.
class ShiftFinder {
 public:
  /// Adds a step.
  /// @param last    loss of the division made one step ago; negative: not known
  /// @param before  loss of the division made two steps ago; negative: not known
  /// @return true if the loads shifted in the step before this one
  bool observe(double last, double before);

 private:
  bool exceeds(double loss) const;
  void learn(double loss);

  double mean_ = 0, deviation_ = 0;  // of the loss of a division one step old; shifts and single outliers left out
  int steps_ = 0;
  bool suspected_ = false;
};

/// How long the loads stay between shifts.
class Regimes {
 public:
  void step() { ++age_; }
  /// The loads shifted `ago` steps ago.
  void shift(int ago);
  /// Expected steps until the next shift: the mean number of steps that earlier regimes still lasted when they were as
  /// old as the present one.  `prior` steps are counted as half a regime.
  double remaining(double prior) const;

 private:
  std::deque<int> lengths_;  // of earlier regimes, newest last
  int age_ = 0;              // steps of the present regime
};

}  // namespace effort::balance
