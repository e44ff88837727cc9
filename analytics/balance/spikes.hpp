// Finds steps that stand out (a checkpoint, a disturbed machine), and whether they recur at regular intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::balance {

/// The period of the steps that stand out.
struct Period {
  std::int64_t length = 0;  ///< steps; 0: none found
  std::int64_t phase = 0;   ///< a step that stood out
  bool holds(std::int64_t step) const { return length > 0 && (step - phase) % length == 0; }
  /// How many of the steps first .. first + n - 1 it marks.
  int count(std::int64_t first, int n) const;
};

/// Follows one value per step (the largest rank's load) and finds the steps that stand out.
///
/// A step stands out when it exceeds the median of its window's steps by more than 6 times their median absolute
/// deviation (scaled to a standard deviation) and by more than a quarter.  If more than a third of a window's steps do,
/// they are a new level and none is marked.  Deterministic.
class SpikeFinder {
 public:
  void reset();
  /// Adds one window of steps and marks its outliers.
  /// @param first_step  first step of the window, after those of earlier windows
  /// @param values      one per step, finite
  /// @returns one flag per step
  std::vector<char> observe(std::int64_t first_step, std::span<const double> values);
  /// The period, if the last three outliers are equally far apart.
  Period period() const { return period_; }

 private:
  void find_period();
  std::vector<std::int64_t> spikes_;  // steps that stood out, oldest first
  Period period_;
};

}  // namespace effort::balance
