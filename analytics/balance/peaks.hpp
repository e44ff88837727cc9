// Separates single steps of unusual loss (peaks) from lasting changes of the load.
#pragma once

namespace effort::balance {

enum class StepKind {
  ordinary,
  peak,      ///< the loss rose abruptly in this step: a checkpoint of one rank, a disturbed core, or a new level
  new_level  ///< the second such step in a row: both belong to a new level of the load
};

/// Classifies steps by their loss.  Uses basic arithmetic only, so all nodes get the same result from the same losses.
class PeakFinder {
 public:
  /// A new distribution begins.
  void restart() { steps_ = 0; }
  /// @param largest, mean  loads of the ranks in a step, seconds
  StepKind observe(double largest, double mean);

 private:
  int steps_ = 0;
  bool peak_ = false;               // the last step was a peak
  double usual_ = 0;                // mean load, smoothed, peaks left out
  double last_ = 0;                 // largest load of the last step that was not a peak, in usual loads, - 1
  double square_ = 0, weight_ = 0;  // sums over the squared changes of the loss, fading
};

}  // namespace effort::balance
