// Tells steps that stand out alone from those that show how the load lies.
#pragma once

namespace effort::balance {

enum class StepKind {
  ordinary,
  peak,      ///< much more is lost than in the step before: a checkpoint of one rank, a disturbed core, or a new level
  new_level  ///< the second such step in a row: this is how the load lies now, and was in the step before
};

/// Classifies steps by their loss.  Plain arithmetic, so that all nodes find the same from the same losses.
class PeakFinder {
 public:
  /// A new distribution begins.
  void restart() { steps_ = 0; }
  StepKind observe(double loss);

 private:
  int steps_ = 0;
  bool peak_ = false;               // the last step was one
  double last_ = 0;                 // loss of the last step that was none
  double square_ = 0, weight_ = 0;  // of its changes
};

}  // namespace effort::balance
