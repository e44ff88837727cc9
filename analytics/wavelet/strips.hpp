// The kernels of the two-dimensional transform: a team sweeps down a strip of rows and transforms both directions.
#pragma once

#include "analytics/wavelet/cdf97.hpp"
#include "analytics/wavelet/lifting.hpp"

#include <cstddef>
#include <functional>

namespace effort::wavelet {

/// Access to the rows of a matrix, continued by reflection.
template <typename Space>
struct WholeRows {
  MatrixOn<Space, const double> matrix;
  KOKKOS_INLINE_FUNCTION const double* operator()(std::ptrdiff_t i) const {
    return &matrix(reflect(i, matrix.extent(0)), 0);
  }
};

/// The same for a matrix in two halves, with even rows in the low half.
template <typename Space>
struct HalvedRows {
  MatrixOn<Space, const double> matrix;
  KOKKOS_INLINE_FUNCTION const double* operator()(std::ptrdiff_t i) const {
    const std::size_t at = reflect(i, matrix.extent(0)), lows = (matrix.extent(0) + 1) / 2;
    return &matrix(at % 2 == 0 ? at / 2 : lows + at / 2, 0);
  }
};

/// Rows at addresses given by the caller, beginning four rows before the first pair.
struct ListedRows {
  const double* const* rows;
  KOKKOS_INLINE_FUNCTION const double* operator()(std::ptrdiff_t i) const { return rows[i + 4]; }
};

/// The part of a team: a strip of row pairs.  Each strip warms up on the rows before it.  Strips are therefore
/// independent and give the same bits as a single sweep.
template <typename Space>
struct Strip {
  /// Rows of a strip in `rings`; they swap roles from step to step.
  static constexpr std::size_t ring_rows = 11;

  std::size_t pairs, strips, cols;
  MatrixOn<Space> rings;  ///< [strips * ring_rows][cols]

  KOKKOS_INLINE_FUNCTION std::ptrdiff_t begin(std::size_t strip) const {
    return static_cast<std::ptrdiff_t>(strip * pairs / strips);
  }
  /// The strip's rows, set to 0.  The first steps' results are not used, but must not trap or be slow.
  template <typename Team>
  KOKKOS_INLINE_FUNCTION double* start_ring(const Team& team) const {
    double* ring = &rings(static_cast<std::size_t>(team.league_rank()) * ring_rows, 0);
    simd::for_each(team, ring_rows * cols, [=](std::size_t i) { ring[i] = 0; });
    simd::barrier(team);
    return ring;
  }
};

template <typename T>
KOKKOS_INLINE_FUNCTION void exchange(T& a, T& b) {
  T c = a;
  a = b;
  b = c;
}

/// Splits the row pairs of a strip.
template <typename Space, typename Source>
struct SplitStrip : Strip<Space> {
  Source source;
  MatrixOn<Space> low, high;
  bool halve_cols;

  template <typename Team>
  KOKKOS_INLINE_FUNCTION void load(const Team& team, std::ptrdiff_t i, double* to) const {
    halve_cols ? split_row(team, source(i), this->cols, to) : copy_row(team, source(i), this->cols, to);
  }

  template <typename Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const std::size_t n = this->cols;
    double* const ring = this->start_ring(team);
    double *even = ring, *odd = ring + n, *even_next = ring + 2 * n, *spare = ring + 9 * n;
    double *d1[2] = {ring + 3 * n, ring + 4 * n}, *s1[2] = {ring + 5 * n, ring + 6 * n},
           *kept[2] = {ring + 7 * n, ring + 8 * n};
    const auto strip = static_cast<std::size_t>(team.league_rank());
    const std::ptrdiff_t begin = this->begin(strip), end = this->begin(strip + 1);
    load(team, 2 * (begin - 2), even);
    for (std::ptrdiff_t i = begin - 2; i <= end; ++i) {
      load(team, 2 * i + 1, odd);
      load(team, 2 * i + 2, even_next);
      const bool wanted = i > begin;
      const auto k = static_cast<std::size_t>(i - 1);
      double* low_out = wanted ? &low(k, 0) : spare;
      double* high_out = wanted && k < high.extent(0) ? &high(k, 0) : spare;
      split_columns(team, {even, odd, even_next, d1[0], s1[0], kept[0], d1[1], s1[1], kept[1]}, n, low_out, high_out);
      exchange(d1[0], d1[1]);
      exchange(s1[0], s1[1]);
      exchange(kept[0], kept[1]);
      exchange(even, even_next);
      simd::barrier(team);
    }
  }
};

/// Writes joined rows to a matrix.
template <typename Space>
struct StoredRows {
  MatrixOn<Space> out;
  KOKKOS_INLINE_FUNCTION std::size_t rows() const { return out.extent(0); }
  template <typename Team>
  KOKKOS_INLINE_FUNCTION void store(const Team& team, const double* from, std::size_t row, bool halve_cols,
                                    double* scratch, double*) const {
    double* to = &out(row, 0);
    halve_cols ? join_row(team, from, out.extent(1), to, scratch) : copy_row(team, from, out.extent(1), to);
  }
};

/// Passes each joined row to a function.  Host only.
struct ShownRows {
  std::size_t count, cols;
  const std::function<void(std::size_t, const double*)>* take;
  std::size_t rows() const { return count; }
  template <typename Team>
  void store(const Team& team, const double* from, std::size_t row, bool halve_cols, double* scratch,
             double* joined) const {
    if (halve_cols) join_row(team, from, cols, joined, scratch);
    (*take)(row, halve_cols ? joined : from);
  }
};

/// Joins the row pairs of a strip.
template <typename Space, typename Source, typename Out>
struct JoinStrip : Strip<Space> {
  Source source;
  Out out;
  bool halve_cols;

  template <typename Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const std::size_t n = this->cols;
    double* const ring = this->start_ring(team);
    double *high[2] = {ring, ring + n}, *s1[2] = {ring + 2 * n, ring + 3 * n}, *d1[2] = {ring + 4 * n, ring + 5 * n};
    double *even[2] = {ring + 6 * n, ring + 7 * n}, *odd = ring + 8 * n, *scratch = ring + 9 * n,
           *joined = ring + 10 * n;
    const auto strip = static_cast<std::size_t>(team.league_rank());
    const std::ptrdiff_t begin = this->begin(strip), end = this->begin(strip + 1);
    for (std::ptrdiff_t i = begin - 2; i <= end + 1; ++i) {
      join_columns(
          team, {source(2 * i), source(2 * i + 1), high[0], s1[0], d1[0], even[0], high[1], s1[1], d1[1], even[1], odd},
          n);
      simd::barrier(team);
      if (i - 1 >= begin && i - 1 < end)
        out.store(team, even[1], 2 * static_cast<std::size_t>(i - 1), halve_cols, scratch, joined);
      if (i - 2 >= begin && i - 2 < end) {
        const auto row = 2 * static_cast<std::size_t>(i - 2) + 1;
        if (row < out.rows()) out.store(team, odd, row, halve_cols, scratch, joined);
      }
      exchange(high[0], high[1]);
      exchange(s1[0], s1[1]);
      exchange(d1[0], d1[1]);
      exchange(even[0], even[1]);
      simd::barrier(team);
    }
  }
};

enum class RowWork { copy, split, join };

/// Row-wise work: every team works on some of the rows.
template <typename Space>
struct EachRow {
  std::size_t groups;
  MatrixOn<Space, const double> in;
  MatrixOn<Space> out, scratch;  ///< scratch: [groups][cols]
  RowWork work;

  template <typename Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const auto g = static_cast<std::size_t>(team.league_rank());
    const std::size_t rows = in.extent(0), n = in.extent(1);
    for (std::size_t i = g * rows / groups; i < (g + 1) * rows / groups; ++i) {
      const double* from = &in(i, 0);
      double* to = &out(i, 0);
      if (work == RowWork::copy) copy_row(team, from, n, to);
      if (work == RowWork::split) split_row(team, from, n, to);
      if (work == RowWork::join) join_row(team, from, n, to, &scratch(g, 0));
    }
  }
};

}  // namespace effort::wavelet
