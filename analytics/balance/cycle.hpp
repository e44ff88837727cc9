// Finds the period of a program whose steps repeat: refinements, neighbour lists, checkpoints every so many steps.
#pragma once

#include <array>
#include <cstddef>
#include <deque>

namespace effort::balance {

/// Finds the period of two signals of a step that do not depend on how the work is divided at present.  A period is
/// found when a signal differs from its value one period ago by much less than from its values at other lags.
/// Not thread-safe; deterministic; time O(longest) per step.
class Cycle {
 public:
  static constexpr int longest = 40;  ///< steps of the longest period found

  /// @param mean  mean load of the step, > 0
  /// @param loss  loss of a division made one step before; negative: not known, taken to be that of the step before
  void observe(double mean, double loss);
  /// Steps of the period; 0: none found.
  int period() const { return period_; }

 private:
  struct Signal {
    std::deque<double> past;                                 // newest first
    std::array<double, longest + 1> difference{}, weight{};  // from the value of each lag, fading
    void observe(double value);
    double ratio(int lag) const;
  };
  Signal mean_, loss_;
  int steps_ = 0, period_ = 0;
};

}  // namespace effort::balance
