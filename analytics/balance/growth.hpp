// How a load that the work accounts for goes on: work is counted without noise, so that its trend shows within one
// window.
#pragma once

#include <span>

namespace effort::balance {

/// The straight line through equally spaced values, by least squares.
struct Line {
  double mean = 0;   ///< at the middle of the values
  double slope = 0;  ///< per value
};
/// @param values  at least 2
Line line_through(std::span<const double> values);

/// How well a line through the first half of a rank's steps foretells the second half, against the first half's mean.
struct HalvesErrors {
  double line = 0, mean = 0;  ///< |foretold - second half's mean|, >= 0
};
/// @param values  at least least_steps_of_growth
HalvesErrors halves_errors(std::span<const double> values);
inline constexpr int least_steps_of_growth = 6;  ///< a line through fewer than three steps says nothing

/// How far lines are to be believed, from how well they did in recent windows.  Work that moves steadily (particles
/// that drift, fronts) is foretold nearly without error; where it jumps, or differs from step to step, lines do worse
/// than no change at all and are left alone.
class LineTrust {
 public:
  /// The errors of one window, summed over all ranks; all nodes pass the same.
  void observe(HalvesErrors errors);
  /// 0 (as if nothing changed) to 1 (as the line says).
  double share() const;

 private:
  HalvesErrors recent_;
};

/// How much of what ranks took beyond what their work accounts for is found again in the next window: all of it where a
/// core is slow or the costs miss something, nothing where it was noise, which a rebalancer must not follow.
class LastingPart {
 public:
  /// One window against the one before.  Sums over all ranks, weighted in the same way; all nodes pass the same.
  /// @param product  of a rank's two deviations, relative
  /// @param square   of the deviation before
  /// @param weight   of all ranks
  void observe(double product, double square, double weight);
  /// The slope of the least-squares line through the origin over about the last five windows, 0 to 1; 1 before there
  /// are two windows.
  double share() const;
  /// What a load is multiplied by so that only the lasting part of its deviation is left.  What goes beyond three times
  /// the usual deviation is no noise of the usual kind, and stays.
  /// @param deviation  of the load from what the work accounts for, relative, >= -1
  double keep(double deviation) const;

 private:
  double product_ = 0, square_ = 0, weight_ = 0;
};

/// What a load is multiplied by to come to that of other steps.
/// @param line   of the work's load over the steps the load was measured in; of any unit
/// @param ahead  from their middle to that of the steps foretold, in steps
/// @param share  of the line's slope that is believed, 0 to 1
/// @return 0.5 to 2; 1 where there is no work
double growth(const Line& line, double ahead, double share);

}  // namespace effort::balance
