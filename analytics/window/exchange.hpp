// Sums over nodes that do not depend on the order of arrival, bit for bit.
#pragma once

#include "analytics/comm/communicator.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::window {

/// Rounds real numbers to integers of a common scale and sums these over all nodes.  Values that are added up on a node
/// must be rounded before the addition (total(), add_to()); the sum then depends neither on the order nor on the split
/// into nodes.
class ExactSum {
 public:
  /// @param bound  upper bound of the absolute value of every sum over all nodes; identical on all nodes.  The
  ///               resolution is 2^-60 of it.  Larger contributions are clamped; so are bounds above 2^899
  explicit ExactSum(double bound);
  /// The scaled integer of a value.  NaN and values beyond the bound are clamped.
  std::int64_t rounded(double value) const {
    double v = value < bound_ ? value : bound_;
    v = (v > -bound_ ? v : -bound_) * inverse_;
    return static_cast<std::int64_t>(v < 0 ? v - 0.5 : v + 0.5);
  }
  /// Appends `n` sums of zero; returns the position of the first.
  std::size_t reserve(std::size_t n);
  void add_to(std::size_t position, double value) { values_[position] += rounded(value); }
  /// Appends one sum per value, already rounded with this scale; returns the position of the first.
  std::size_t add(std::span<const std::int64_t> values);
  /// Appends one sum of all the values; returns its position.
  std::size_t total(std::span<const double> values);
  /// Collective: all nodes must have appended equally many sums.
  void reduce(Communicator& nodes);
  double operator[](std::size_t position) const { return static_cast<double>(values_[position]) * unit_; }

 private:
  double unit_, inverse_, bound_;
  std::vector<std::int64_t> values_;
};

/// Collective.  Returns whether all nodes have good input of the same shape.
/// @param good     whether this node's input is good; if not, the other arguments are ignored
/// @param largest  numbers that are replaced by their maxima over the nodes with good input; equally many on all nodes
bool same_shape(Communicator& nodes, bool good, std::span<const double> shape, std::span<double> largest);

/// The largest absolute value; 0 for none.
inline double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double x : values) largest = std::max(largest, std::fabs(x));
  return largest;
}

/// This thread's CPU time, seconds.
double thread_cpu_seconds();

}  // namespace effort::window
