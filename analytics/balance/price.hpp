// The measured price of a rebalance.
#pragma once

#include <deque>

namespace effort::balance {

/// The price of a rebalance as a function of the loss before it: the larger the loss, the more work has to be moved.
struct PriceLine {
  double fixed = 0;  ///< of a rebalance that moves nothing; < 0: unknown
  double slope = 0;  ///< per mean load of loss, >= 0

  double at(double loss) const { return fixed + slope * loss; }
  bool known() const { return fixed >= 0; }
};

/// Learns the price of a rebalance from measured ones.
class Price {
 public:
  /// @param initial  seconds, used until a price has been measured; < 0: unknown
  explicit Price(double initial) : typical_(initial), line_{initial, 0} {}
  /// @param seconds  ignored if negative, NaN or infinite
  /// @param loss     expected for the next step without the rebalance, in mean loads, >= 0
  void add(double seconds, double loss);
  /// @param seconds  by which the first step of a new distribution took longer than usual
  void add_slow_start(double seconds);
  /// In seconds.  A line through the last nine prices (Bayesian linear regression).  No price counts more than their
  /// upper tercile (times its loss / the mean loss, if that is above 1): a single outlier is not trusted.  Once there
  /// are three slow starts, the median of the last ones is added, but at most the price itself: a larger value may be a
  /// peak of the program's own cycle that coincides with its rebalances.
  PriceLine line() const { return line_; }
  /// The line at the mean loss of these prices, which are thus averaged and not extrapolated; < 0: unknown.
  double typical() const { return typical_; }

 private:
  struct Measured {
    double seconds, loss;
  };
  void fit();

  double typical_;
  PriceLine line_;
  std::deque<Measured> prices_;  // newest last, as below
  std::deque<double> slow_starts_;
};

}  // namespace effort::balance
