// Sums over nodes that come out the same, bit for bit, in whatever order the nodes arrive.
#pragma once

#include "analytics/comm/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::window {

/// Collects real numbers, rounds each to an integer of a common scale and sums those over all nodes.  What is added up
/// on a node must be rounded before it is added (total(), add_to()): then neither the order nor the split into nodes
/// shows.
class ExactSum {
 public:
  /// @param bound  what no sum over all nodes exceeds in absolute value; identical on all nodes.  The resolution is
  ///               2^-60 of it; larger contributions are clamped
  explicit ExactSum(double bound);
  /// The integer that stands for a value.  NaN and what exceeds the bound are clamped.
  std::int64_t rounded(double value) const {
    double v = value < bound_ ? value : bound_;
    v = (v > -bound_ ? v : -bound_) * inverse_;
    return static_cast<std::int64_t>(v < 0 ? v - 0.5 : v + 0.5);
  }
  /// Makes room for `n` sums, zero so far; returns the position of the first.
  std::size_t reserve(std::size_t n);
  void add_to(std::size_t position, double value) { values_[position] += rounded(value); }
  /// A sum that begins with one value; returns its position.
  std::size_t add(double value);
  /// One sum per value.
  std::size_t add(std::span<const double> values);
  /// One sum per value rounded before (by this scale).
  std::size_t add(std::span<const std::int64_t> values);
  /// One sum of all the values.
  std::size_t total(std::span<const double> values);
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
