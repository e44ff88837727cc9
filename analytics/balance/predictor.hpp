// Foretells the load of the coming window, region by region and rank by rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::balance {

/// How the load of the coming steps is foretold.
enum class Predictor : std::int32_t {
  persistence = 0,  ///< as in the last window; where its work has a trend, that is followed (growth.hpp)
  median = 1,       ///< the median of the last windows
  trend = 2,        ///< the straight line through the last windows, never below zero
  ewma = 3,         ///< exponentially weighted mean of the windows, the last counting half
  periodic = 4      ///< base load, and the peak of regular steps (checkpoints) where the coming window has such
};
inline constexpr int n_predictors = 5;

/// What one window adds to the history of one row, and what is expected of the coming one.
struct PeakSteps {
  int steps = 0;       ///< steps of the window
  int peaks = 0;       ///< of these, steps that stand out regularly
};

/// Keeps the last windows of a node's part of the run and extrapolates them.  Rows are regions; columns are the
/// node's ranks.  Not thread-safe; deterministic.  Memory O(rows x columns x depth).
class Forecaster {
 public:
  static constexpr int depth = 6;        ///< windows kept
  static constexpr int trend_depth = 4;  ///< windows the straight line and the median are made of

  /// Forgets everything and starts with the given shape.
  void reset(int rows, int columns);
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  /// Windows seen since the last reset, at most `depth`.
  int windows() const { return windows_; }

  /// Adds a window.
  /// @param mean  [rows][columns] mean load per step over the window
  /// @param base  [rows][columns] the same over the steps that do not stand out; empty: equal to mean
  /// @param peak  [rows][columns] the same over the steps that do; empty, or rows without peaks: ignored
  /// @param steps [rows] how many of the window's steps stood out; empty: none
  /// @throws std::invalid_argument when a length is wrong
  void observe(std::span<const double> mean, std::span<const double> base = {}, std::span<const double> peak = {},
               std::span<const PeakSteps> steps = {});

  /// What predictor `kind` says of one row.
  /// @param ahead  how many windows ahead, > 0 (fractions allowed: 1.2 is the window that begins a fifth later)
  /// @param coming steps and peaks of the window foretold (for the periodic predictor)
  /// @param out    [columns] mean load per step; zero while nothing was seen
  /// Time O(columns x trend_depth).
  void predict(int row, Predictor kind, double ahead, PeakSteps coming, std::span<double> out) const;

  std::size_t bytes() const { return (history_.size() + base_.size() + peak_.size() + smooth_.size()) * sizeof(double); }

 private:
  const double* past(int windows_ago, int row) const;

  int rows_ = 0, columns_ = 0, windows_ = 0, newest_ = 0;
  std::vector<double> history_;  // [depth][rows][columns]
  std::vector<double> smooth_, base_, peak_;  // [rows][columns]
  std::vector<char> has_peak_;   // [rows]
};

/// Chooses, row by row, the predictor with the smallest recent error.  All nodes feed it the same sums, so that all
/// choose alike.
class PredictorChoice {
 public:
  void reset(int rows);
  /// Adds one window's errors.
  /// @param error  [rows][n_predictors] sum over all ranks of |predicted - measured|, >= 0
  /// @param scale  [rows] sum over all ranks of the measured load, >= 0
  void observe(std::span<const double> error, std::span<const double> scale);
  Predictor of(int row) const;
  /// Relative error of the row's predictor, averaged over recent windows; < 0 while there was none.
  double error(int row) const;

 private:
  int rows_ = 0;
  std::vector<double> error_;  // [rows][n_predictors]
  std::vector<double> scale_;  // [rows]
};

}  // namespace effort::balance
