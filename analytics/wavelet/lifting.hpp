// The steps of the 9/7 lifting scheme for a team: along a row, or down all columns of a few rows.
#pragma once

#include "analytics/simd/team.hpp"

#include <cstddef>
#include <cstring>

namespace effort::wavelet {

// Lifting coefficients of the 9/7 filters (Daubechies & Sweldens 1998, 7.5), scaled to a low-pass gain of sqrt(2).
inline constexpr double alpha = -1.586134342059924;
inline constexpr double beta = -0.052980118572961;
inline constexpr double gamma = 0.882911075530934;
inline constexpr double delta = 0.443506852043971;
inline constexpr double low_gain = 1.149604398860241;

/// Index of the sample at position `i` if `n` samples are continued by reflection at both ends.
KOKKOS_INLINE_FUNCTION std::size_t reflect(std::ptrdiff_t i, std::size_t n) {
  const auto last = static_cast<std::ptrdiff_t>(n) - 1;
  while (i < 0 || i > last) i = i < 0 ? -i : 2 * last - i;
  return static_cast<std::size_t>(i);
}

template <typename Team>
KOKKOS_INLINE_FUNCTION void copy_row(const Team& team, const double* in, std::size_t n, double* out) {
  if constexpr (simd::one_thread<Team>) {
    std::memcpy(out, in, n * sizeof(double));
  } else {
    simd::for_each(team, n, [=](std::size_t j) { out[j] = in[j]; });
  }
}

/// d[i] += c (s[i] + s[i+1]), the sample beyond the end mirrored
template <typename Team>
KOKKOS_INLINE_FUNCTION void predict(const Team& team, double* d, std::size_t nd, const double* s, std::size_t ns,
                                    double c) {
  const std::size_t inner = ns > nd ? nd : nd - 1;
  simd::for_each(team, inner, [=](std::size_t i) { d[i] += c * (s[i] + s[i + 1]); });
  if (ns == nd) simd::once(team, [=] { d[nd - 1] += c * (s[nd - 1] + s[nd - 1]); });
  simd::barrier(team);
}

/// s[i] += c (d[i-1] + d[i]), the samples beyond both ends mirrored
template <typename Team>
KOKKOS_INLINE_FUNCTION void update(const Team& team, double* s, std::size_t ns, const double* d, std::size_t nd,
                                   double c) {
  const std::size_t inner = ns > nd ? nd - 1 : ns - 1;
  simd::once(team, [=] { s[0] += c * (d[0] + d[0]); });
  simd::for_each(team, inner, [=](std::size_t i) { s[i + 1] += c * (d[i] + d[i + 1]); });
  if (ns > nd) simd::once(team, [=] { s[ns - 1] += c * (d[nd - 1] + d[nd - 1]); });
  simd::barrier(team);
}

/// Splits `n` >= 2 samples into (n+1)/2 low-band values at `out` and n/2 high-band values after them.  `in` and `out`
/// must not overlap.
template <typename Team>
KOKKOS_INLINE_FUNCTION void split_row(const Team& team, const double* in, std::size_t n, double* out) {
  const std::size_t nd = n / 2, ns = n - nd;
  double* s = out;
  double* d = out + ns;
  simd::for_each(team, nd, [=](std::size_t i) {
    s[i] = in[2 * i];
    d[i] = in[2 * i + 1];
  });
  if (ns > nd) simd::once(team, [=] { s[ns - 1] = in[n - 1]; });
  simd::barrier(team);
  predict(team, d, nd, s, ns, alpha);
  update(team, s, ns, d, nd, beta);
  predict(team, d, nd, s, ns, gamma);
  update(team, s, ns, d, nd, delta);
  simd::for_each(team, ns, [=](std::size_t i) { s[i] *= low_gain; });
  simd::for_each(team, nd, [=](std::size_t i) { d[i] *= 1 / low_gain; });
  simd::barrier(team);
}

/// Undoes split_row(); `scratch` holds n values.
template <typename Team>
KOKKOS_INLINE_FUNCTION void join_row(const Team& team, const double* in, std::size_t n, double* out, double* scratch) {
  const std::size_t nd = n / 2, ns = n - nd;
  double* s = scratch;
  double* d = scratch + ns;
  simd::for_each(team, ns, [=](std::size_t i) { s[i] = in[i] * (1 / low_gain); });
  simd::for_each(team, nd, [=](std::size_t i) { d[i] = in[ns + i] * low_gain; });
  simd::barrier(team);
  update(team, s, ns, d, nd, -delta);
  predict(team, d, nd, s, ns, -gamma);
  update(team, s, ns, d, nd, -beta);
  predict(team, d, nd, s, ns, -alpha);
  simd::for_each(team, nd, [=](std::size_t i) {
    out[2 * i] = s[i];
    out[2 * i + 1] = d[i];
  });
  if (ns > nd) simd::once(team, [=] { out[n - 1] = s[ns - 1]; });
  simd::barrier(team);
}

/// One step of the vertical pipeline over `n` columns once the rows `even_next` (s[i+1]) and `odd` (d[i]) are
/// available:
///   d1 = odd + alpha (even + even_next)          kept for the next step
///   s1 = even + beta (d1_before + d1)            kept
///   high = d1_before + gamma (s1_before + s1)    kept unscaled, written scaled to high_out
///   low = s1_before + delta (high_before + high) written scaled to low_out
/// Columns are independent: the same member of the team works on a column in each step, so no barrier is needed.
struct SplitRows {
  const double *even, *odd, *even_next, *d1_before, *s1_before, *high_before;
  double *d1, *s1, *high;
};
template <typename Team>
KOKKOS_INLINE_FUNCTION void split_columns(const Team& team, const SplitRows& rows, std::size_t n, double* low_out,
                                          double* high_out) {
  simd::for_each(team, n, [=](std::size_t j) {
    const double d1 = rows.odd[j] + alpha * (rows.even[j] + rows.even_next[j]);
    const double s1 = rows.even[j] + beta * (rows.d1_before[j] + d1);
    const double high = rows.d1_before[j] + gamma * (rows.s1_before[j] + s1);
    const double low = rows.s1_before[j] + delta * (rows.high_before[j] + high);
    rows.d1[j] = d1;
    rows.s1[j] = s1;
    rows.high[j] = high;
    high_out[j] = high * (1 / low_gain);
    low_out[j] = low * low_gain;
  });
}

/// One step of the inverse pipeline once the rows `low` (S[i]) and `high` (D[i]) are available:
///   s1 = low - delta (high_before + high);   d1 = high_before - gamma (s1_before + s1)
///   even = s1_before - beta (d1_before + d1);  odd = d1_before - alpha (even_before + even)
/// All kept; `low` and `high` are scaled on reading (high_before is the kept, scaled one).
struct JoinRows {
  const double *low, *high, *high_before, *s1_before, *d1_before, *even_before;
  double *high_kept, *s1, *d1, *even, *odd;
};
template <typename Team>
KOKKOS_INLINE_FUNCTION void join_columns(const Team& team, const JoinRows& rows, std::size_t n) {
  simd::for_each(team, n, [=](std::size_t j) {
    const double high = rows.high[j] * low_gain;
    const double s1 = rows.low[j] * (1 / low_gain) - delta * (rows.high_before[j] + high);
    const double d1 = rows.high_before[j] - gamma * (rows.s1_before[j] + s1);
    const double even = rows.s1_before[j] - beta * (rows.d1_before[j] + d1);
    rows.high_kept[j] = high;
    rows.s1[j] = s1;
    rows.d1[j] = d1;
    rows.even[j] = even;
    rows.odd[j] = rows.d1_before[j] - alpha * (rows.even_before[j] + even);
  });
}

}  // namespace effort::wavelet
