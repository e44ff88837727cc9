// The measured price of a rebalance.
#pragma once

#include <deque>

namespace effort::balance {

/// The measured price of a rebalance, seconds.
class Price {
 public:
  explicit Price(double initial) : initial_(initial) {}
  /// @param seconds  ignored if negative, NaN or infinite
  void add(double seconds);
  /// @param seconds  by which the first step of a new distribution took longer than usual
  void add_slow_start(double seconds);
  /// The median of the last three prices (of two: the smaller), plus the median of the last slow starts once there are
  /// three.  A median ignores single outliers.  Slow starts count up to the price itself: a larger value may be a peak
  /// of the program's own cycle that coincides with its rebalances.  Negative: unknown.
  double value() const;

 private:
  double initial_;
  std::deque<double> prices_, slow_starts_;
};

}  // namespace effort::balance
