#include "analytics/wavelet/cdf97.hpp"

#include "analytics/wavelet/lifting.hpp"
#include "analytics/wavelet/pages.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace effort::wavelet {
namespace {

/// Scratch memory.  Not a View: making one of the default space's kind needs the thread that initialised Kokkos.
using Buffer = std::unique_ptr<double[]>;

Buffer make_buffer(std::size_t n) { return make_doubles(n); }

/// Row buffers of the vertical pipelines that swap roles from step to step.
class RowRing {
 public:
  static constexpr std::size_t row_count = 11;
  RowRing(double* memory, std::size_t cols) : memory_(memory), cols_(cols) {
    std::fill_n(memory, row_count * cols, 0.0);
  }
  double* row(std::size_t i) { return memory_ + i * cols_; }

 private:
  double* memory_;
  std::size_t cols_;
};

/// Where the rows of a whole rectangle lie, continued by reflection.
struct WholeRows {
  const double* data;
  std::size_t rows, stride;
  const double* operator()(std::ptrdiff_t i) const { return data + reflect(i, rows) * stride; }
};

/// The same of a rectangle whose halves are separate: even rows in the low half.
struct HalvedRows {
  const double* data;
  std::size_t rows, stride;
  const double* operator()(std::ptrdiff_t i) const {
    const std::size_t at = reflect(i, rows), lows = (rows + 1) / 2;
    return data + (at % 2 == 0 ? at / 2 : lows + at / 2) * stride;
  }
};

/// Rows from four before the first pair on, each where the caller has it.
struct ListedRows {
  const double* const* rows;
  const double* operator()(std::ptrdiff_t i) const { return rows[i + 4]; }
};

/// Splits the row pairs [first, last); every strip warms up on the rows before it, so that strips are independent
/// and give the same bits as one sweep.
template <typename Rows>
struct SplitStrip {
  Rows source;
  std::size_t cols;
  Rect low, high;
  bool halve_cols;

  void load(std::ptrdiff_t i, double* to) const {
    if (halve_cols) {
      split_row(source(i), cols, to);
    } else {
      std::memcpy(to, source(i), cols * sizeof(double));
    }
  }

  void operator()(std::size_t first, std::size_t last, double* memory) const {
    RowRing ring(memory, cols);
    double *even = ring.row(0), *odd = ring.row(1), *even_next = ring.row(2);
    std::array<double*, 2> d1{ring.row(3), ring.row(4)}, s1{ring.row(5), ring.row(6)}, kept{ring.row(7), ring.row(8)};
    const auto begin = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(last);
    load(2 * (begin - 2), even);
    for (std::ptrdiff_t i = begin - 2; i <= end; ++i) {
      load(2 * i + 1, odd);
      load(2 * i + 2, even_next);
      const bool wanted = i > begin;
      const auto k = static_cast<std::size_t>(i - 1);
      double* spare = ring.row(9);
      double* low_out = wanted ? low.data + k * low.stride : spare;
      double* high_out = wanted && k < high.rows ? high.data + k * high.stride : spare;
      split_columns({even, odd, even_next, d1[0], s1[0], kept[0], d1[1], s1[1], kept[1]}, cols, low_out, high_out);
      std::swap(d1[0], d1[1]);
      std::swap(s1[0], s1[1]);
      std::swap(kept[0], kept[1]);
      std::swap(even, even_next);
    }
  }
};

/// Where joined rows go: into a rectangle,
struct StoredRows {
  Rect out;
  std::size_t rows() const { return out.rows; }
  void store(const double* from, std::size_t cols, std::size_t row, bool halve_cols, double* scratch, double*) const {
    double* to = out.data + row * out.stride;
    if (halve_cols) {
      join_row(from, cols, to, scratch);
    } else {
      std::memcpy(to, from, cols * sizeof(double));
    }
  }
};

/// or to somebody who looks at them.
struct ShownRows {
  std::size_t count;
  const std::function<void(std::size_t, const double*)>* take;
  std::size_t rows() const { return count; }
  void store(const double* from, std::size_t cols, std::size_t row, bool halve_cols, double* scratch, double* joined) const {
    if (halve_cols) join_row(from, cols, joined, scratch);
    (*take)(row, halve_cols ? joined : from);
  }
};

/// Joins the row pairs [first, last); see SplitStrip.
template <typename Rows, typename Out = StoredRows>
struct JoinStrip {
  Rows source;
  std::size_t cols;
  Out out;
  bool halve_cols;

  void operator()(std::size_t first, std::size_t last, double* memory) const {
    RowRing ring(memory, cols);
    std::array<double*, 2> high{ring.row(0), ring.row(1)}, s1{ring.row(2), ring.row(3)}, d1{ring.row(4), ring.row(5)},
        even{ring.row(6), ring.row(7)};
    double *odd = ring.row(8), *scratch = ring.row(9), *joined = ring.row(10);
    const auto begin = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(last);
    for (std::ptrdiff_t i = begin - 2; i <= end + 1; ++i) {
      join_columns({source(2 * i), source(2 * i + 1), high[0], s1[0], d1[0], even[0], high[1], s1[1], d1[1], even[1], odd},
                   cols);
      if (i - 1 >= begin && i - 1 < end) out.store(even[1], cols, 2 * static_cast<std::size_t>(i - 1), halve_cols, scratch, joined);
      if (i - 2 >= begin && i - 2 < end) {
        const auto row = 2 * static_cast<std::size_t>(i - 2) + 1;
        if (row < out.rows()) out.store(odd, cols, row, halve_cols, scratch, joined);
      }
      std::swap(high[0], high[1]);
      std::swap(s1[0], s1[1]);
      std::swap(d1[0], d1[1]);
      std::swap(even[0], even[1]);
    }
  }
};

/// Work for one thread is no kernel: what starting one costs shows in small matrices.
template <typename Space, typename Work>
void run(const Space& space, const char* label, std::size_t n, const Work& work) {
  if (n == 1) return work(0);
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Space>(space, 0, n), work);
  space.fence();
}

template <typename Space, typename Strip>
void run_strips(const Space& space, const char* label, std::size_t pairs, const Strip& strip) {
  const auto threads = static_cast<std::size_t>(std::max(1, static_cast<int>(space.concurrency())));
  const std::size_t strips = std::clamp<std::size_t>(pairs / 16, 1, threads);
  const std::size_t memory_per_strip = RowRing::row_count * strip.cols;
  Buffer memory = make_buffer(strips * memory_per_strip);
  double* rows = memory.get();
  run(space, label, strips,
      [=](const std::size_t s) { strip(s * pairs / strips, (s + 1) * pairs / strips, rows + s * memory_per_strip); });
}

/// Applies `row_work(row, scratch)` to every row, in as many groups as the space has threads.
template <typename Space, typename RowWork>
void run_rows(const Space& space, const char* label, const Rect& rect, const RowWork& row_work) {
  const auto threads = static_cast<std::size_t>(std::max(1, static_cast<int>(space.concurrency())));
  const std::size_t groups = std::clamp<std::size_t>(rect.rows / 8, 1, threads);
  Buffer memory = make_buffer(groups * rect.cols);
  double* scratch = memory.get();
  run(space, label, groups, [=](const std::size_t g) {
    for (std::size_t i = g * rect.rows / groups; i < (g + 1) * rect.rows / groups; ++i)
      row_work(i, scratch + g * rect.cols);
  });
}

template <typename Space>
void copy(const Space& space, const Rect& in, const Rect& out) {
  run_rows(space, "effort::wavelet::copy", in, [=](std::size_t i, double*) {
    std::memcpy(out.data + i * out.stride, in.data + i * in.stride, in.cols * sizeof(double));
  });
}

void check(std::size_t rows, std::size_t cols, Levels levels) {
  const auto good = [](int level, std::size_t n) { return level >= 0 && level <= deepest_level(n); };
  if (good(levels.rows, rows) && good(levels.cols, cols)) return;
  throw std::invalid_argument("wavelet levels (" + std::to_string(levels.rows) + ", " + std::to_string(levels.cols) +
                              ") do not suit " + std::to_string(rows) + " x " + std::to_string(cols) +
                              " values: use at most deepest_level() of each extent");
}

Rect corner(Rect rect, Levels levels, int level) {
  rect.rows = low_length(rect.rows, std::min(level, levels.rows));
  rect.cols = low_length(rect.cols, std::min(level, levels.cols));
  return rect;
}

Rect whole(const MatrixView& view) { return {view.data(), view.extent(0), view.extent(1), view.extent(1)}; }

/// Levels first+1 .. of the transform, on the low corner that level `first` left in `rect`.
template <typename Space>
void forward_from(const Space& space, const Rect& rect, Levels levels, int first) {
  const int deepest = std::max(levels.rows, levels.cols);
  if (first >= deepest) return;
  const Rect start = corner(rect, levels, first);
  Buffer memory = make_buffer(start.rows * start.cols);
  for (int level = first; level < deepest; ++level) {
    const Rect low = corner(rect, levels, level);
    const Rect aside{memory.get(), low.rows, low.cols, low.cols};
    copy(space, low, aside);
    split(space, aside, low, level < levels.rows, level < levels.cols);
  }
}

template <typename Space>
void inverse_down_to(const Space& space, const Rect& rect, Levels levels, int last) {
  const int deepest = std::max(levels.rows, levels.cols);
  if (last >= deepest) return;
  const Rect end = corner(rect, levels, last);
  Buffer memory = make_buffer(end.rows * end.cols);
  for (int level = deepest - 1; level >= last; --level) {
    const Rect low = corner(rect, levels, level);
    const Rect aside{memory.get(), low.rows, low.cols, low.cols};
    join(space, low, aside, level < levels.rows, level < levels.cols);
    copy(space, aside, low);
  }
}

}  // namespace

template <typename Space>
void split(const Space& space, const Rect& in, const Rect& out, bool halve_rows, bool halve_cols) {
  if (in.rows == 0 || in.cols == 0) return;
  if (halve_rows) {
    const std::size_t lows = (in.rows + 1) / 2;
    const Rect low{out.data, lows, out.cols, out.stride}, high{out.data + lows * out.stride, in.rows - lows, out.cols, out.stride};
    run_strips(space, "effort::wavelet::split", lows,
               SplitStrip<WholeRows>{{in.data, in.rows, in.stride}, in.cols, low, high, halve_cols});
  } else if (halve_cols) {
    run_rows(space, "effort::wavelet::split_cols", in,
             [=](std::size_t i, double*) { split_row(in.data + i * in.stride, in.cols, out.data + i * out.stride); });
  } else {
    copy(space, in, out);
  }
}

template <typename Space>
void join(const Space& space, const Rect& in, const Rect& out, bool halve_rows, bool halve_cols) {
  if (in.rows == 0 || in.cols == 0) return;
  if (halve_rows) {
    run_strips(space, "effort::wavelet::join", (in.rows + 1) / 2,
               JoinStrip<HalvedRows>{{in.data, in.rows, in.stride}, in.cols, {out}, halve_cols});
  } else if (halve_cols) {
    run_rows(space, "effort::wavelet::join_cols", in, [=](std::size_t i, double* scratch) {
      join_row(in.data + i * in.stride, in.cols, out.data + i * out.stride, scratch);
    });
  } else {
    copy(space, in, out);
  }
}

template <typename Space>
void split_pairs(const Space& space, const double* const* rows, std::size_t cols, const Rect& low, const Rect& high, bool halve_cols) {
  if (low.rows == 0 || cols == 0) return;
  run_strips(space, "effort::wavelet::split_pairs", low.rows, SplitStrip<ListedRows>{{rows}, cols, low, high, halve_cols});
}

template <typename Space>
void join_pairs(const Space& space, const double* const* rows, std::size_t cols, const Rect& out, bool halve_cols) {
  if (out.rows == 0 || cols == 0) return;
  run_strips(space, "effort::wavelet::join_pairs", (out.rows + 1) / 2, JoinStrip<ListedRows>{{rows}, cols, {out}, halve_cols});
}

template <typename Space>
void forward(const Space& space, const ConstMatrixView& in, const MatrixView& out, Levels levels) {
  check(in.extent(0), in.extent(1), levels);
  // split() only reads from its input
  const Rect from{const_cast<double*>(in.data()), in.extent(0), in.extent(1), in.extent(1)};
  split(space, from, whole(out), levels.rows > 0, levels.cols > 0);
  forward_from(space, whole(out), levels, 1);
}

template <typename Space>
void forward(const Space& space, const MatrixView& matrix, Levels levels) {
  check(matrix.extent(0), matrix.extent(1), levels);
  forward_from(space, whole(matrix), levels, 0);
}

template <typename Space>
void inverse(const Space& space, const MatrixView& in, const MatrixView& out, Levels levels) {
  check(in.extent(0), in.extent(1), levels);
  inverse_down_to(space, whole(in), levels, 1);
  join(space, whole(in), whole(out), levels.rows > 0, levels.cols > 0);
}

void inverse_rows(const Kokkos::Serial& space, const MatrixView& in, Levels levels, const std::function<void(std::size_t, const double*)>& take) {
  check(in.extent(0), in.extent(1), levels);
  const Rect rect = whole(in);
  if (rect.rows == 0 || rect.cols == 0) return;
  if (levels.rows == 0) {
    inverse_down_to(space, rect, levels, 0);
    for (std::size_t i = 0; i < rect.rows; ++i) take(i, rect.data + i * rect.stride);
    return;
  }
  inverse_down_to(space, rect, levels, 1);
  run_strips(space, "effort::wavelet::join_shown", (rect.rows + 1) / 2,
             JoinStrip<HalvedRows, ShownRows>{{rect.data, rect.rows, rect.stride}, rect.cols, {rect.rows, &take}, levels.cols > 0});
}

template <typename Space>
void inverse(const Space& space, const MatrixView& matrix, Levels levels) {
  check(matrix.extent(0), matrix.extent(1), levels);
  inverse_down_to(space, whole(matrix), levels, 0);
}

#define EFFORT_INSTANTIATE(Space)                                                                             \
  template void forward(const Space&, const MatrixView&, Levels);                                             \
  template void forward(const Space&, const ConstMatrixView&, const MatrixView&, Levels);                     \
  template void inverse(const Space&, const MatrixView&, Levels);                                             \
  template void inverse(const Space&, const MatrixView&, const MatrixView&, Levels);                          \
  template void split(const Space&, const Rect&, const Rect&, bool, bool);                                    \
  template void join(const Space&, const Rect&, const Rect&, bool, bool);                                     \
  template void split_pairs(const Space&, const double* const*, std::size_t, const Rect&, const Rect&, bool); \
  template void join_pairs(const Space&, const double* const*, std::size_t, const Rect&, bool);
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
