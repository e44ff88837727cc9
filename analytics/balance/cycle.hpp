// Finds the period of a program that does something every few steps: refine a mesh, rebuild neighbour lists, write a
// checkpoint.
#pragma once

#include <array>
#include <cstddef>
#include <deque>

namespace effort::balance {

/// Watches two signals that do not depend on how the work is divided at present.  A lag is a period if one of them
/// changes much less over it than over shorter lags.
/// Not thread-safe; deterministic; time O(longest) per step.
class Cycle {
 public:
  static constexpr int longest = 40;  ///< steps of the longest period found

  /// @param mean  mean load of the step, > 0
  /// @param loss  loss of a division made one step before; negative if unknown.  The value of one period earlier then
  ///              replaces it, or the previous step's if no period has been found
  void observe(double mean, double loss);
  /// Period in steps; 0 if none was found.
  int period() const { return period_; }

 private:
  struct Signal {
    std::deque<double> past;                                 // newest first
    std::array<double, longest + 1> difference{}, weight{};  // from the value of each lag, fading
    void observe(double value);
    std::array<double, longest + 1> ratios() const;
  };
  Signal mean_, loss_;
  int steps_ = 0, period_ = 0;
};

}  // namespace effort::balance
