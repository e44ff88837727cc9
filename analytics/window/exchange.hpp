// Sums over nodes that come out the same, bit for bit, in whatever order the nodes arrive.
#pragma once

#include "analytics/comm/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::window {

/// Collects real numbers, rounds them to integers of a common scale and sums those over all nodes.
class ExactSum {
 public:
  /// @param bound  what no sum over all nodes exceeds in absolute value; identical on all nodes.  The resolution is
  ///               2^-60 of it; larger contributions are clamped
  explicit ExactSum(double bound);
  /// Adds a value to be summed; returns its position.  NaN counts as 0.
  std::size_t add(double value);
  std::size_t add(std::span<const double> values);
  /// Collective: all nodes have added equally many.
  void reduce(Communicator& nodes);
  double operator[](std::size_t position) const { return static_cast<double>(values_[position]) * unit_; }

 private:
  double unit_, inverse_, bound_;
  std::vector<std::int64_t> values_;
};

/// This thread's CPU time, seconds.
double thread_cpu_seconds();

}  // namespace effort::window
