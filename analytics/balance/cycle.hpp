// Finds the period of a program that does something every few steps: refine a mesh, rebuild neighbour lists, write a
// checkpoint.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace effort::balance {

/// Folds two signals over every possible period: the change of the mean load, and the loss of a division made one step
/// earlier.  Neither depends on how the work is divided at present.  A period is found if the mean values of its phases
/// differ much more than the values within a phase (one-way analysis of variance; epoch folding: Leahy et al. 1983).
/// Not thread-safe; deterministic; time O(longest) per step, memory O(longest^2).
class Cycle {
 public:
  static constexpr int longest = 40;  ///< steps of the longest period found

  Cycle();
  /// @param mean  mean load of the step, > 0
  /// @param loss  loss of a division made one step earlier; negative: unknown
  void observe(double mean, double loss);
  /// Period in steps; 0 if none was found.
  int period() const { return period_; }

 private:
  struct Sums {
    double weight = 0, value = 0;
    double weighted_square() const { return weight > 0 ? value * value / weight : 0.0; }  ///< of the mean value
  };
  /// A signal folded over one period.
  struct Folded {
    std::vector<Sums> phases;    // [step % period]
    std::size_t empty = 0;       // phases without a value
    double weighted_square = 0;  // sum over the phases
  };
  /// How well a period explains a signal.
  struct Fit {
    double share = 0;  ///< of the variance that lies between phases, without the part that chance explains
    double f = 0;      ///< variance between phases over variance within them
  };
  struct Signal {
    std::array<Folded, longest + 1> folded;  // [period]
    double weight = 0, squared_weights = 0, sum = 0, squares = 0;
    void observe(int step, double value, double weight_of_step);
    void scale(double factor);
    Fit fit(int period) const;
  };
  Fit fit(int period) const;

  std::array<Signal, 2> signals_;
  double last_mean_ = 0;
  double weight_ = 1;  // of the next step; weights grow so that sums need not fade
  int steps_ = 0, period_ = 0;
};

}  // namespace effort::balance
