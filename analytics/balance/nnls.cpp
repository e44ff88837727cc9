#include "analytics/balance/nnls.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace effort::balance {
namespace {

std::size_t at(int row, int column, int n) { return static_cast<std::size_t>(row) * n + column; }

void check(const NormalEquations& e) {
  const auto n = static_cast<std::size_t>(e.n);
  if (e.n < 0 || e.xx.size() != n * n || e.xy.size() != n)
    throw std::invalid_argument("normal equations have the wrong length: pass n x n and n values");
  bool finite = std::isfinite(e.yy) && std::isfinite(e.m);
  for (double v : e.xx) finite = finite && std::isfinite(v);
  for (double v : e.xy) finite = finite && std::isfinite(v);
  if (!finite) throw std::invalid_argument("normal equations are not finite: leave such observations out");
}

// Columns that are combinations of others, by pivoted Cholesky on columns scaled to length 1.  The largest remainder is
// the next pivot.  Once no remainder exceeds the tolerance, the columns left depend on the pivots; solving for their
// coefficients shows on which.
std::vector<char> dependent_columns(const NormalEquations& e, double tolerance) {
  const int n = e.n;
  std::vector<char> dependent(static_cast<std::size_t>(n), 0);
  std::vector<double> scaled(e.xx.size(), 0.0), length(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) length[i] = std::sqrt(std::max(e.xx[at(i, i, n)], 0.0));
  std::vector<int> pivots, rest;
  for (int i = 0; i < n; ++i) {
    if (length[i] > 0)
      rest.push_back(i);
    else
      dependent[i] = 1;
    for (int j = 0; j < n; ++j)
      if (length[i] > 0 && length[j] > 0) scaled[at(i, j, n)] = e.xx[at(i, j, n)] / (length[i] * length[j]);
  }
  std::vector<double> left = scaled;  // Schur complement
  while (!rest.empty()) {
    const auto best =
        std::max_element(rest.begin(), rest.end(), [&](int a, int b) { return left[at(a, a, n)] < left[at(b, b, n)]; });
    const int p = *best;
    if (left[at(p, p, n)] <= tolerance) break;
    rest.erase(best);
    pivots.push_back(p);
    for (int i : rest)
      for (int j : rest) left[at(i, j, n)] -= left[at(i, p, n)] * left[at(p, j, n)] / left[at(p, p, n)];
  }
  const auto k = static_cast<int>(pivots.size());
  for (int column : rest) {
    dependent[column] = 1;
    std::vector<double> matrix(static_cast<std::size_t>(k) * k), share(static_cast<std::size_t>(k));
    for (int i = 0; i < k; ++i) {
      share[i] = scaled[at(pivots[i], column, n)];
      for (int j = 0; j < k; ++j) matrix[at(i, j, k)] = scaled[at(pivots[i], pivots[j], n)];
    }
    if (!solve_spd(matrix, share, k)) continue;
    for (int i = 0; i < k; ++i)
      if (std::fabs(share[i]) > std::sqrt(tolerance)) dependent[pivots[i]] = 1;
  }
  return dependent;
}

// The system of the chosen columns alone.
std::vector<double> submatrix(const NormalEquations& e, const std::vector<int>& chosen) {
  const auto k = static_cast<int>(chosen.size());
  std::vector<double> out(static_cast<std::size_t>(k) * k);
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) out[at(i, j, k)] = e.xx[at(chosen[i], chosen[j], e.n)];
  return out;
}

std::vector<double> solve(const NormalEquations& e, const std::vector<int>& chosen) {
  std::vector<double> x;
  for (int c : chosen) x.push_back(e.xy[c]);
  if (!solve_spd(submatrix(e, chosen), x, static_cast<int>(chosen.size()))) std::fill(x.begin(), x.end(), 0.0);
  return x;
}

// One diagonal element of the inverse of the chosen columns' system.
double inverse_diagonal(const NormalEquations& e, const std::vector<int>& chosen, int column) {
  std::vector<double> unit(chosen.size(), 0.0);
  const auto position = std::find(chosen.begin(), chosen.end(), column) - chosen.begin();
  unit[position] = 1;
  if (!solve_spd(submatrix(e, chosen), unit, static_cast<int>(chosen.size()))) return -1;
  return unit[position];
}

double gradient(const NormalEquations& e, const std::vector<double>& x, int column) {
  double g = e.xy[column];
  for (int j = 0; j < e.n; ++j) g -= e.xx[at(column, j, e.n)] * x[j];
  return g;
}

// Lawson & Hanson's active set method over the allowed columns; returns the positive ones.
std::vector<int> active_set(const NormalEquations& e, const std::vector<int>& allowed, std::vector<double>& x) {
  std::vector<int> positive;
  for (int round = 0; round < 10 * e.n + 10; ++round) {
    int enter = -1;
    double steepest = 0;
    for (int c : allowed) {
      if (std::find(positive.begin(), positive.end(), c) != positive.end()) continue;
      const double g = gradient(e, x, c) / std::sqrt(e.xx[at(c, c, e.n)]);
      if (g > steepest + 1e-12 * std::sqrt(std::max(e.yy, 0.0))) {
        steepest = g;
        enter = c;
      }
    }
    if (enter < 0) break;
    positive.push_back(enter);
    while (true) {
      const std::vector<double> trial = solve(e, positive);
      double step = 1;
      for (std::size_t i = 0; i < positive.size(); ++i)
        if (trial[i] <= 0) step = std::min(step, x[positive[i]] / (x[positive[i]] - trial[i]));
      if (!(step < 1) && std::all_of(trial.begin(), trial.end(), [](double v) { return v > 0; })) {
        for (std::size_t i = 0; i < positive.size(); ++i) x[positive[i]] = trial[i];
        break;
      }
      std::vector<int> kept;
      for (std::size_t i = 0; i < positive.size(); ++i) {
        double& value = x[positive[i]];
        value += step * (trial[i] - value);
        if (trial[i] <= 0 && value <= 1e-14 * std::fabs(trial[i])) value = 0;
        if (value > 0)
          kept.push_back(positive[i]);
        else
          value = 0;
      }
      if (kept.size() == positive.size()) kept.pop_back();  // rounding: always make progress
      positive = kept;
      if (positive.empty()) break;
    }
  }
  return positive;
}

}  // namespace

void NormalEquations::add(std::span<const double> x, double y, double weight) {
  for (int i = 0; i < n; ++i) {
    xy[i] += weight * x[i] * y;
    for (int j = 0; j < n; ++j) xx[at(i, j, n)] += weight * x[i] * x[j];
  }
  yy += weight * y * y;
  m += 1;
}

void NormalEquations::add(const NormalEquations& other, double scale) {
  for (std::size_t i = 0; i < xx.size(); ++i) xx[i] += scale * scale * other.xx[i];
  for (std::size_t i = 0; i < xy.size(); ++i) xy[i] += scale * other.xy[i];
  yy += other.yy;
  m += other.m;
}

bool solve_spd(std::vector<double> matrix, std::span<double> rhs, int n) {
  for (int j = 0; j < n; ++j) {
    double pivot = matrix[at(j, j, n)];
    for (int k = 0; k < j; ++k) pivot -= matrix[at(j, k, n)] * matrix[at(j, k, n)];
    if (!(pivot > 0)) return false;
    const double root = matrix[at(j, j, n)] = std::sqrt(pivot);
    for (int i = j + 1; i < n; ++i) {
      double value = matrix[at(i, j, n)];
      for (int k = 0; k < j; ++k) value -= matrix[at(i, k, n)] * matrix[at(j, k, n)];
      matrix[at(i, j, n)] = value / root;
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) rhs[i] -= matrix[at(i, k, n)] * rhs[k];
    rhs[i] /= matrix[at(i, i, n)];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) rhs[i] -= matrix[at(k, i, n)] * rhs[k];
    rhs[i] /= matrix[at(i, i, n)];
  }
  return true;
}

NonNegativeFit nnls(const NormalEquations& e, double tolerance) {
  check(e);
  NonNegativeFit fit;
  fit.x.assign(static_cast<std::size_t>(e.n), -1.0);
  fit.error = fit.x;
  // The coefficients of dependent columns are not unique, but their joint contribution is not noise.  A fit that
  // includes their pivots gives the residual, and does not change the coefficients of the separable columns.
  const std::vector<char> dependent = dependent_columns(e, tolerance);
  std::vector<int> allowed;
  for (int c = 0; c < e.n; ++c) {
    fit.collinear = fit.collinear || (dependent[c] && e.xx[at(c, c, e.n)] > 0);
    if (!(e.xx[at(c, c, e.n)] > 0)) continue;
    std::vector<int> with = allowed;
    with.push_back(c);
    const double inverse = inverse_diagonal(e, with, c);
    if (inverse > 0 && inverse * e.xx[at(c, c, e.n)] * tolerance < 1) allowed.push_back(c);
  }
  std::vector<double> x(static_cast<std::size_t>(e.n), 0.0);
  const std::vector<int> positive = active_set(e, allowed, x);
  fit.residual = e.yy;
  for (int c = 0; c < e.n; ++c) fit.residual -= x[c] * (e.xy[c] + gradient(e, x, c));
  fit.residual = std::max(fit.residual, 0.0);
  const double freedom = e.m - static_cast<double>(positive.size());
  fit.variance = freedom > 0 ? fit.residual / freedom : 0.0;
  for (int c : allowed)
    if (!dependent[c]) fit.x[c] = x[c];
  fit.positive = positive;
  fit.error = standard_errors(e, fit);
  return fit;
}

std::vector<double> standard_errors(const NormalEquations& e, const NonNegativeFit& fit) {
  std::vector<double> error(static_cast<std::size_t>(e.n), -1.0);
  // Noise alone may have set a coefficient to zero.  It stays free here, because its uncertainty affects the others.
  std::vector<int> free = fit.positive;
  for (int c = 0; c < e.n; ++c)
    if (fit.x[c] >= 0 && std::find(free.begin(), free.end(), c) == free.end()) free.push_back(c);
  for (int c = 0; c < e.n; ++c) {
    if (fit.x[c] < 0) continue;
    const double inverse = inverse_diagonal(e, free, c);
    error[c] = inverse > 0 ? std::sqrt(fit.variance * inverse) : -1.0;
  }
  return error;
}

}  // namespace effort::balance
