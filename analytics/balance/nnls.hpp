// Non-negative least squares from the normal equations.
#pragma once

#include <span>
#include <vector>

namespace effort::balance {

/// The weighted sums over m observations (x: n values, y) from which y = x c is fitted.
struct NormalEquations {
  explicit NormalEquations(int unknowns = 0)
      : n(unknowns),
        xx(static_cast<std::size_t>(unknowns) * unknowns, 0.0),
        xy(static_cast<std::size_t>(unknowns), 0.0) {}
  int n;
  std::vector<double> xx;  ///< [n][n] sum of weight x x'
  std::vector<double> xy;  ///< [n] sum of weight x y
  double yy = 0;           ///< sum of weight y y
  double m = 0;            ///< observations

  /// Adds one observation; weight >= 0.
  void add(std::span<const double> x, double y, double weight);
  /// Adds another system, its x multiplied by `scale`.
  void add(const NormalEquations& other, double scale = 1.0);
};

struct NonNegativeFit {
  std::vector<double> x;      ///< [n] coefficients >= 0; -1 if linearly dependent on others
  std::vector<double> error;  ///< [n] standard errors; -1 likewise
  double residual = 0;        ///< weighted sum of squared residuals
  double variance = 0;        ///< of an observation of weight 1
  bool collinear = false;     ///< some columns are combinations of others
  std::vector<int> positive;  ///< columns whose coefficient is above zero, dependent ones included
};

/// Non-negative least squares (Lawson & Hanson 1974, chapter 23, on the normal equations as by Bro & de Jong 1997),
/// with standard errors from the covariance of the unbounded coefficients: a coefficient that noise has set to zero
/// still makes the others uncertain.  Columns that are linear combinations of others, to within `tolerance` of their
/// own squared length, and the columns they depend on are reported as not separable; so are columns of zeros.  The
/// other columns are fitted as usual.  Deterministic.  Time O(n^4) at worst: meant for a handful of unknowns.
/// @throws std::invalid_argument when lengths are wrong or a number is not finite
NonNegativeFit nnls(const NormalEquations& equations, double tolerance = 1e-6);

/// Standard errors of a fit's coefficients under reduced normal equations, from which unknowns that were estimated
/// jointly have been eliminated.  [n]; -1 for columns without a coefficient or an error.
std::vector<double> standard_errors(const NormalEquations& equations, const NonNegativeFit& fit);

/// Solves a symmetric positive definite system of size n by Cholesky; false when it is not positive definite.
bool solve_spd(std::vector<double> matrix, std::span<double> rhs, int n);

}  // namespace effort::balance
