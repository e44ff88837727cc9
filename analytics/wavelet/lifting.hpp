// The row kernels of the 9/7 lifting scheme: one row at a time, or all columns of a few rows at a time.
#pragma once

#include <cstddef>

namespace effort::wavelet {

// Lifting coefficients of the 9/7 filters (Daubechies & Sweldens 1998, 7.5), scaled to a low-pass gain of sqrt(2).
inline constexpr double alpha = -1.586134342059924;
inline constexpr double beta = -0.052980118572961;
inline constexpr double gamma = 0.882911075530934;
inline constexpr double delta = 0.443506852043971;
inline constexpr double low_gain = 1.149604398860241;

/// Index of the sample that stands at `i` when `n` samples are continued by reflection at both ends.
inline std::size_t reflect(std::ptrdiff_t i, std::size_t n) {
  const auto last = static_cast<std::ptrdiff_t>(n) - 1;
  while (i < 0 || i > last) i = i < 0 ? -i : 2 * last - i;
  return static_cast<std::size_t>(i);
}

/// Splits `n` >= 2 samples into (n+1)/2 low-band values at `out` and n/2 high-band values behind them.
/// `in` and `out` must not overlap.
void split_row(const double* in, std::size_t n, double* out);

/// Undoes split_row(); `scratch` holds n values.
void join_row(const double* in, std::size_t n, double* out, double* scratch);

/// One step of the vertical pipeline over `n` columns when the rows `even_next` (s[i+1]) and `odd` (d[i]) have come:
///   d1 = odd + alpha (even + even_next)          kept for the next step
///   s1 = even + beta (d1_before + d1)            kept
///   high = d1_before + gamma (s1_before + s1)    kept unscaled, written scaled to high_out
///   low = s1_before + delta (high_before + high) written scaled to low_out
struct SplitRows {
  const double* even;
  const double* odd;
  const double* even_next;
  const double* d1_before;
  const double* s1_before;
  const double* high_before;
  double* d1;
  double* s1;
  double* high;
};
void split_columns(const SplitRows& rows, std::size_t n, double* low_out, double* high_out);

/// One step of the inverse pipeline when the rows `low` (S[i]) and `high` (D[i]) have come:
///   s1 = low - delta (high_before + high);   d1 = high_before - gamma (s1_before + s1)
///   even = s1_before - beta (d1_before + d1);  odd = d1_before - alpha (even_before + even)
/// All kept; `low` and `high` are scaled on reading (high_before is the kept, scaled one).
struct JoinRows {
  const double* low;
  const double* high;
  const double* high_before;
  const double* s1_before;
  const double* d1_before;
  const double* even_before;
  double* high_kept;
  double* s1;
  double* d1;
  double* even;
  double* odd;
};
void join_columns(const JoinRows& rows, std::size_t n);

}  // namespace effort::wavelet
