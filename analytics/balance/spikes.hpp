// Finds steps that stand out (a checkpoint, a disturbed machine), and whether they recur at regular intervals.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace effort::balance {

/// Follows one value per step (the largest rank's load) and finds the steps that stand out.
///
/// A step stands out when it exceeds the median of its window's steps by more than 6 times their median absolute
/// deviation (scaled to a standard deviation) and by more than a quarter.  If more than a third of a window's steps
/// would stand out, they are a new level, and none does.  Deterministic.
class SpikeFinder {
 public:
  /// Adds one window of steps.
  /// @param first_step  first step of the window, after those of earlier windows
  /// @param values      one per step, finite
  void observe(std::int64_t first_step, std::span<const double> values);
  /// Whether the last three steps that stood out are equally far apart.
  bool recurs() const;

 private:
  std::vector<std::int64_t> spikes_;  // steps that stood out, oldest first
};

}  // namespace effort::balance
