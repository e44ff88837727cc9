#include "analytics/wavelet/cdf97.hpp"

#include "analytics/wavelet/pages.hpp"
#include "analytics/wavelet/strips.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace effort::wavelet {
namespace {

/// Memory for the levels of a transform: a copy of the largest low band, and the rings of the strips.
template <typename Space>
class Workspace {
 public:
  Workspace(const Space& space, std::size_t rows, std::size_t cols, bool with_copy)
      : copy_size_(with_copy ? rows * cols : 0), strips_(simd::teams_for(space, (rows + 1) / 2, 16)) {
    const std::size_t n = copy_size_ + strips_ * Strip<Space>::ring_rows * cols;
    if constexpr (simd::on_host<Space>) {
      memory_ = make_doubles(n);
      data_ = memory_.get();
    } else {
      memory_ = Memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, "effort"), n);
      data_ = memory_.data();
    }
  }
  MatrixOn<Space> copy(std::size_t rows, std::size_t cols) const { return MatrixOn<Space>(data_, rows, cols); }
  /// Rings for the strips of a level, which are at most as many as those of the first level.
  MatrixOn<Space> rings(std::size_t cols) const {
    return MatrixOn<Space>(data_ + copy_size_, strips_ * Strip<Space>::ring_rows, cols);
  }

 private:
  /// A view takes six times as long to allocate as an array, which is noticeable for the matrices of a window.
  using Memory = std::conditional_t<simd::on_host<Space>, std::unique_ptr<double[]>,
                                    Kokkos::View<double*, typename Space::memory_space>>;
  std::size_t copy_size_, strips_;
  Memory memory_;
  double* data_;
};

// Labels fit the small-string buffer, because allocations are noticeable for the small matrices of a window.

template <typename Space, typename Source>
void split_strips(const Space& space, const Workspace<Space>& work, const Source& source, const MatrixOn<Space>& low,
                  const MatrixOn<Space>& high, bool halve_cols) {
  const std::size_t pairs = low.extent(0), cols = low.extent(1), strips = simd::teams_for(space, pairs, 16);
  simd::for_each_team(
      space, "effort::split", strips, simd::for_rows_of(cols),
      SplitStrip<Space, Source>{{pairs, strips, cols, work.rings(cols)}, source, low, high, halve_cols});
}

template <typename Space, typename Source, typename Out>
void join_strips(const Space& space, const Workspace<Space>& work, const Source& source, std::size_t cols,
                 const Out& out, bool halve_cols) {
  const std::size_t pairs = (out.rows() + 1) / 2, strips = simd::teams_for(space, pairs, 16);
  simd::for_each_team(space, "effort::join", strips, simd::for_rows_of(cols),
                      JoinStrip<Space, Source, Out>{{pairs, strips, cols, work.rings(cols)}, source, out, halve_cols});
}

/// Row-wise work.  Strips are at least as large as its groups of rows, so the rings can be its scratch memory.
template <typename Space>
void each_row(const Space& space, const Workspace<Space>& work, const MatrixOn<Space, const double>& in,
              const MatrixOn<Space>& out, RowWork kind) {
  const std::size_t groups = simd::teams_for(space, in.extent(0), 32);
  simd::for_each_team(space, "effort::rows", groups, simd::for_rows_of(in.extent(1)),
                      EachRow<Space>{groups, in, out, work.rings(in.extent(1)), kind});
}

template <typename Matrix>
Matrix rows_of(const Matrix& matrix, std::size_t first, std::size_t last) {
  return Kokkos::subview(matrix, std::pair<std::size_t, std::size_t>(first, last), Kokkos::ALL);
}

void check(std::size_t rows, std::size_t cols, Levels levels) {
  const auto good = [](int level, std::size_t n) { return level >= 0 && level <= deepest_level(n); };
  if (good(levels.rows, rows) && good(levels.cols, cols)) return;
  throw std::invalid_argument("wavelet levels (" + std::to_string(levels.rows) + ", " + std::to_string(levels.cols) +
                              ") do not suit " + std::to_string(rows) + " x " + std::to_string(cols) +
                              " values: use at most deepest_level() of each extent");
}

/// The low band after `level` halvings.
template <typename Matrix>
Matrix corner(const Matrix& matrix, Levels levels, int level) {
  const std::size_t rows = low_length(matrix.extent(0), std::min(level, levels.rows));
  const std::size_t cols = low_length(matrix.extent(1), std::min(level, levels.cols));
  return Kokkos::subview(matrix, std::pair<std::size_t, std::size_t>(0, rows),
                         std::pair<std::size_t, std::size_t>(0, cols));
}

template <typename Space>
void split_with(const Space& space, const Workspace<Space>& work, const MatrixOn<Space, const double>& in,
                const MatrixOn<Space>& out, bool halve_rows, bool halve_cols) {
  if (!halve_rows) return each_row(space, work, in, out, halve_cols ? RowWork::split : RowWork::copy);
  const std::size_t lows = (in.extent(0) + 1) / 2;
  split_strips(space, work, WholeRows<Space>{in}, rows_of(out, 0, lows), rows_of(out, lows, in.extent(0)), halve_cols);
}

template <typename Space>
void join_with(const Space& space, const Workspace<Space>& work, const MatrixOn<Space, const double>& in,
               const MatrixOn<Space>& out, bool halve_rows, bool halve_cols) {
  if (!halve_rows) return each_row(space, work, in, out, halve_cols ? RowWork::join : RowWork::copy);
  join_strips(space, work, HalvedRows<Space>{in}, in.extent(1), StoredRows<Space>{out}, halve_cols);
}

/// Levels first + 1 and on of the transform, applied to the low band of level `first` in `matrix`.
template <typename Space>
void forward_from(const Space& space, const MatrixOn<Space>& matrix, Levels levels, int first) {
  const int deepest = std::max(levels.rows, levels.cols);
  const MatrixOn<Space> start = corner(matrix, levels, first);
  if (first >= deepest || start.size() == 0) return;
  const Workspace<Space> work(space, start.extent(0), start.extent(1), true);
  for (int level = first; level < deepest; ++level) {
    const MatrixOn<Space> low = corner(matrix, levels, level), copy = work.copy(low.extent(0), low.extent(1));
    each_row<Space>(space, work, low, copy, RowWork::copy);
    split_with<Space>(space, work, copy, low, level < levels.rows, level < levels.cols);
  }
}

template <typename Space>
void inverse_down_to(const Space& space, const MatrixOn<Space>& matrix, Levels levels, int last) {
  const int deepest = std::max(levels.rows, levels.cols);
  const MatrixOn<Space> end = corner(matrix, levels, last);
  if (last >= deepest || end.size() == 0) return;
  const Workspace<Space> work(space, end.extent(0), end.extent(1), true);
  for (int level = deepest - 1; level >= last; --level) {
    const MatrixOn<Space> low = corner(matrix, levels, level), copy = work.copy(low.extent(0), low.extent(1));
    join_with<Space>(space, work, low, copy, level < levels.rows, level < levels.cols);
    each_row<Space>(space, work, copy, low, RowWork::copy);
  }
}

}  // namespace

template <typename Space>
void split(const Space& space, const MatrixOn<Space, const double>& in, const MatrixOn<Space>& out, bool halve_rows,
           bool halve_cols) {
  if (in.size() == 0) return;
  split_with(space, Workspace<Space>(space, in.extent(0), in.extent(1), false), in, out, halve_rows, halve_cols);
}

template <typename Space>
void join(const Space& space, const MatrixOn<Space, const double>& in, const MatrixOn<Space>& out, bool halve_rows,
          bool halve_cols) {
  if (in.size() == 0) return;
  join_with(space, Workspace<Space>(space, in.extent(0), in.extent(1), false), in, out, halve_rows, halve_cols);
}

void split_pairs(const Kokkos::Serial& space, const double* const* rows, const MatrixView& low, const MatrixView& high,
                 bool halve_cols) {
  if (low.size() == 0) return;
  const Workspace<Kokkos::Serial> work(space, 2 * low.extent(0), low.extent(1), false);
  split_strips(space, work, ListedRows{rows}, low, high, halve_cols);
}

void join_pairs(const Kokkos::Serial& space, const double* const* rows, const MatrixView& out, bool halve_cols) {
  if (out.size() == 0) return;
  const Workspace<Kokkos::Serial> work(space, out.extent(0), out.extent(1), false);
  join_strips(space, work, ListedRows{rows}, out.extent(1), StoredRows<Kokkos::Serial>{out}, halve_cols);
}

template <typename Space>
void forward(const Space& space, const MatrixOn<Space, const double>& in, const MatrixOn<Space>& out, Levels levels) {
  check(in.extent(0), in.extent(1), levels);
  split(space, in, out, levels.rows > 0, levels.cols > 0);
  forward_from(space, out, levels, 1);
}

template <typename Space>
void forward(const Space& space, const MatrixOn<Space>& matrix, Levels levels) {
  check(matrix.extent(0), matrix.extent(1), levels);
  forward_from(space, matrix, levels, 0);
}

template <typename Space>
void inverse(const Space& space, const MatrixOn<Space>& in, const MatrixOn<Space>& out, Levels levels) {
  check(in.extent(0), in.extent(1), levels);
  inverse_down_to(space, in, levels, 1);
  join<Space>(space, in, out, levels.rows > 0, levels.cols > 0);
}

template <typename Space>
void inverse(const Space& space, const MatrixOn<Space>& matrix, Levels levels) {
  check(matrix.extent(0), matrix.extent(1), levels);
  inverse_down_to(space, matrix, levels, 0);
}

void inverse_rows(const Kokkos::Serial& space, const MatrixView& in, Levels levels,
                  const std::function<void(std::size_t, const double*)>& take) {
  check(in.extent(0), in.extent(1), levels);
  if (in.size() == 0) return;
  if (levels.rows == 0) {
    inverse_down_to(space, in, levels, 0);
    for (std::size_t i = 0; i < in.extent(0); ++i) take(i, &in(i, 0));
    return;
  }
  inverse_down_to(space, in, levels, 1);
  const Workspace<Kokkos::Serial> work(space, in.extent(0), in.extent(1), false);
  join_strips(space, work, HalvedRows<Kokkos::Serial>{in}, in.extent(1), ShownRows{in.extent(0), in.extent(1), &take},
              levels.cols > 0);
}

#define EFFORT_INSTANTIATE(Space)                                                                              \
  template void forward(const Space&, const MatrixOn<Space>&, Levels);                                         \
  template void forward(const Space&, const MatrixOn<Space, const double>&, const MatrixOn<Space>&, Levels);   \
  template void inverse(const Space&, const MatrixOn<Space>&, Levels);                                         \
  template void inverse(const Space&, const MatrixOn<Space>&, const MatrixOn<Space>&, Levels);                 \
  template void split(const Space&, const MatrixOn<Space, const double>&, const MatrixOn<Space>&, bool, bool); \
  template void join(const Space&, const MatrixOn<Space, const double>&, const MatrixOn<Space>&, bool, bool);
EFFORT_INSTANTIATE(Kokkos::Serial)
#ifdef KOKKOS_ENABLE_OPENMP
EFFORT_INSTANTIATE(Kokkos::OpenMP)
#endif
#undef EFFORT_INSTANTIATE

double synthesis_norm(int level, bool high) {
  // Computed once by synthesis_norms_test.cpp's method: the inverse transform of unit vectors of 4096 samples.
  static constexpr std::array<double, 8> low_norms{0.991440193500169, 1.0151859280409,  1.02571585843454,
                                                   1.02882129379396,  1.02963778221713, 1.02984499182158,
                                                   1.02989701820291,  1.02991004044155};
  static constexpr std::array<double, 8> high_norms{1.02001762915889, 0.98347130412279, 1.01962139418307,
                                                    1.03688020983584, 1.04203670327847, 1.04339736473241,
                                                    1.04374305349697, 1.04382987759782};
  const auto i = static_cast<std::size_t>(std::clamp(level, 1, 8) - 1);
  return high ? high_norms[i] : low_norms[i];
}

}  // namespace effort::wavelet
