// Sums over the ranks' steps for fitting costs of work, independent of how ranks are assigned to nodes.
#pragma once

#include "analytics/balance/nnls.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::balance {

/// Scales the sums of a WorkLog to integers, by one power of two per sum, from bounds common to all nodes.  A sum of
/// integers does not depend on the order, so the sum over nodes equals that over their ranks, bit for bit.
class WorkScale {
 public:
  /// @param largest  [units + 1] as WorkLog::largest(), the largest of all nodes; fits() says whether they can
  ///                 be scaled
  /// @param ranks    of the whole run, >= 1
  WorkScale(int units, std::span<const double> largest, int ranks);

  /// Whether all are finite and below 1e240, so that products do not overflow.
  static bool fits(std::span<const double> largest);

  /// Number of sums per node.
  std::size_t width() const { return unit_.size(); }
  /// A rank's sum as an integer, with a resolution of 2^-60 of the largest possible sum over all ranks.
  std::int64_t rounded(std::size_t sum, double value) const;
  /// The normal equations from the sums, [width()], of one or several nodes.
  NormalEquations whole(std::span<const std::int64_t> sums) const;

 private:
  double value(std::span<const std::int64_t> sums, std::size_t i) const {
    return static_cast<double>(sums[i]) * unit_[i];
  }
  int units_ = 0;
  std::vector<double> unit_;  // [width] the value that an integer of 1 stands for
};

/// One node's observations, summed rank by rank.
///
/// An observation is a rank's step: its units of work and its load, weighted by 1 / (mean load of the rank)^2 because
/// noise grows with the load.  Steps without work are left out because they say nothing about costs.  A rank whose load
/// is zero in a whole window is left out too, because its clock does not advance.
class WorkLog {
 public:
  /// @param units  kinds of units of work
  /// @param ranks  of this node
  explicit WorkLog(int units = 0, int ranks = 0);
  /// Adds a window.
  /// @param work   [units][ranks][steps]
  /// @param load   [ranks][steps] seconds
  /// @param floor  lower bound of the mean load in the weight, seconds > 0
  /// Time O(ranks x steps x units^2).
  void add(std::span<const double> work, std::span<const double> load, int steps, double floor);
  /// Adds another log of the same shape, rank by rank.
  void add(const WorkLog& other);

  int units() const { return units_; }
  int ranks() const { return ranks_; }
  /// The observations of one rank.
  NormalEquations rank(int r) const;
  /// [units + 1] largest sum of squares of any rank: for each unit, then for the load.
  std::vector<double> largest() const;
  /// [scale.width()] sums over the ranks.
  /// @param left_out  [ranks] flags of ranks to leave out; empty: none
  std::vector<std::int64_t> sums(const WorkScale& scale, std::span<const char> left_out = {}) const;
  std::size_t bytes() const { return values_.size() * sizeof(double); }

 private:
  // One rank's row: xx, xy, yy, observations.
  std::size_t width() const;
  std::span<double> row(int r) {
    return std::span<double>(values_).subspan(static_cast<std::size_t>(r) * width(), width());
  }
  std::span<const double> row(int r) const {
    return std::span<const double>(values_).subspan(static_cast<std::size_t>(r) * width(), width());
  }
  void observe(std::span<double> row, std::span<const double> x, double y, double weight) const;

  int units_, ranks_;
  std::vector<double> values_;  // [ranks][width]
};

}  // namespace effort::balance
