// The biorthogonal 9/7 wavelet transform of rank-by-step matrices, by lifting.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <functional>
#include <utility>

namespace effort::wavelet {

/// A row-major matrix (rows = ranks, columns = steps) in the memory of a space; rows may be further apart than they are
/// long.  A managed view converts to it.
template <typename Space, typename T = double>
using MatrixOn =
    Kokkos::View<T**, Kokkos::LayoutRight, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The same in host memory.
using MatrixView = MatrixOn<Kokkos::Serial>;
using ConstMatrixView = MatrixOn<Kokkos::Serial, const double>;

/// `rows` rows of `cols` values, `stride` values apart.
inline MatrixView view_of(double* data, std::size_t rows, std::size_t cols, std::size_t stride) {
  return Kokkos::subview(MatrixView(data, rows, stride), Kokkos::ALL, std::pair<std::size_t, std::size_t>(0, cols));
}

/// Number of halvings of each dimension.
struct Levels {
  int rows = 0;  ///< along the first index (ranks)
  int cols = 0;  ///< along the second index (steps)
  bool operator==(const Levels&) const = default;
};

/// Length of the low band after `level` halvings of `n` samples: n / 2^level rounded up.
constexpr std::size_t low_length(std::size_t n, int level) {
  for (; level > 0 && n > 1; --level) n = (n + 1) / 2;
  return n;
}

/// The number of halvings after which `n` samples have become one.
constexpr int deepest_level(std::size_t n) {
  int level = 0;
  for (; n > 1; n = (n + 1) / 2) ++level;
  return level;
}

/// Transforms `matrix` in place (Gamblin 2009, 3.3; lifting after Daubechies & Sweldens 1998).
///
/// Level l halves the low band of level l-1 in both directions as long as both have levels left, then only in the one
/// that has.  Afterwards the low band occupies the first low_length(rows, levels.rows) rows and low_length(cols,
/// levels.cols) columns; the bands of level l surround that of level l+1.  Both filters are scaled to be nearly
/// orthonormal: a constant grows by sqrt(2) per halving of one dimension.  Boundaries are extended symmetrically; any
/// size, 0 and 1 included.
///
/// @param space   the execution space instance on which to work; kernels are fenced before return
/// @param levels  0 <= rows <= deepest_level(extent 0), likewise cols; std::invalid_argument otherwise
/// Results do not depend on the space or its number of threads.  Cost: one sweep over memory per level.
template <typename Space>
void forward(const Space& space, const MatrixOn<Space>& matrix, Levels levels);

/// The same from `in` to `out`, of equal extents and not overlapping: saves a copy.
template <typename Space>
void forward(const Space& space, const MatrixOn<Space, const double>& in, const MatrixOn<Space>& out, Levels levels);

/// Undoes forward() with the same levels, to rounding.
template <typename Space>
void inverse(const Space& space, const MatrixOn<Space>& matrix, Levels levels);

/// The same from `in` (whose low bands are overwritten on the way) to `out`, not overlapping.
template <typename Space>
void inverse(const Space& space, const MatrixOn<Space>& in, const MatrixOn<Space>& out, Levels levels);

/// The same without storing the result: `take` receives every row once, in no particular order.
void inverse_rows(const Kokkos::Serial& space, const MatrixView& in, Levels levels,
                  const std::function<void(std::size_t row, const double* values)>& take);

/// One halving of `in` into `out` (of equal extents, not overlapping) in the chosen directions, each of extent >= 2:
/// the low band first, then the high band.
template <typename Space>
void split(const Space& space, const MatrixOn<Space, const double>& in, const MatrixOn<Space>& out, bool halve_rows,
           bool halve_cols);

/// Undoes split().
template <typename Space>
void join(const Space& space, const MatrixOn<Space, const double>& in, const MatrixOn<Space>& out, bool halve_rows,
          bool halve_cols);

/// Applies split() to some consecutive row pairs of a larger matrix, with the same bits.  For matrices whose rows are
/// distributed over nodes.
/// @param rows  2 low.extent(0) + 7 rows of low.extent(1) values: four before the first pair, the pairs, three after
///              them, continued by reflection at the ends of the matrix
/// @param high  as many rows as `low`, or one less if the matrix ends with an even row
void split_pairs(const Kokkos::Serial& space, const double* const* rows, const MatrixView& low, const MatrixView& high,
                 bool halve_cols);

/// Applies join() to some consecutive row pairs of a larger matrix, with the same bits.
/// @param rows  alternately low and high rows, continued by reflection: two pairs before the first, as many pairs as
///              give `out`, and two after them
void join_pairs(const Kokkos::Serial& space, const double* const* rows, const MatrixView& out, bool halve_cols);

/// The Euclidean norm of one synthesis basis function of a one-dimensional transform, far from its ends.  It is the
/// norm of the error in the reconstruction that an error of 1 in a coefficient causes.
/// @param level  1 is the finest; @param high  the high band of that level, else the low band
double synthesis_norm(int level, bool high);

}  // namespace effort::wavelet
