#include "analytics/codec/bands.hpp"

#include "analytics/wavelet/pages.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace effort::codec {
namespace {

using wavelet::Levels;
using wavelet::low_length;

double norm_of(int level, bool high) { return level == 0 ? 1.0 : wavelet::synthesis_norm(level, high); }

/// Adds one band; empty ones are left out.
void add_band(Layout& layout, Band band) {
  if (band.rows == 0 || band.cols == 0) return;
  band.gain = norm_of(band.row_level, band.row_high) * norm_of(band.col_level, band.col_high);
  layout.bands.push_back(band);
}

/// Adds the bands that a split makes of its rectangle, coarse first.
void add_split_bands(Layout& layout, const PacketSplit& split) {
  Band band{split.row0,      split.col0,        split.rows,       split.cols, split.level, split.row_level,
            split.col_level, !split.along_rows, split.along_rows, 1,          {}};
  if (split.extra == 0) {
    band.row_high = !split.along_rows;
    band.col_high = split.along_rows;
    add_band(layout, band);
    return;
  }
  std::size_t& extent = split.along_rows ? band.rows : band.cols;
  std::size_t& origin = split.along_rows ? band.row0 : band.col0;
  int& level = split.along_rows ? band.row_level : band.col_level;
  bool& high = split.along_rows ? band.row_high : band.col_high;
  const std::size_t whole = extent, start = origin;
  const int start_level = level;
  extent = low_length(whole, split.extra);
  level = start_level + split.extra;
  high = false;
  add_band(layout, band);
  for (int k = split.extra; k >= 1; --k) {
    const std::size_t low = low_length(whole, k);
    origin = start + low;
    extent = low_length(whole, k - 1) - low;
    level = start_level + k;
    high = true;
    add_band(layout, band);
  }
}

/// The coarser bands of the same kind that come before band `b`.
void find_parents(Layout& layout, std::size_t b) {
  Band& band = layout.bands[b];
  const auto find = [&](int more_rows, int more_cols) {
    for (std::size_t i = 0; i < b; ++i) {
      const Band& other = layout.bands[i];
      if (other.row_level == band.row_level + more_rows && other.col_level == band.col_level + more_cols &&
          other.row_high == band.row_high && other.col_high == band.col_high)
        return static_cast<int>(i);
    }
    return -1;
  };
  std::size_t found = 0;
  for (const auto& [dr, dc] : {std::pair{1, 1}, std::pair{1, 0}, std::pair{0, 1}}) {
    const int i = find(dr, dc);
    if (i >= 0 && found < 2) band.parents[found++] = {i, dr, dc};
  }
}

}  // namespace

std::vector<PacketSplit> possible_splits(std::size_t rows, std::size_t cols, Levels levels) {
  std::vector<PacketSplit> splits;
  const int joint = std::min(levels.rows, levels.cols);
  for (int level = joint; level >= 1; --level) {
    const std::size_t low_rows = low_length(rows, level), low_cols = low_length(cols, level);
    const std::size_t high_rows = low_length(rows, level - 1) - low_rows;
    const std::size_t high_cols = low_length(cols, level - 1) - low_cols;
    const int row_depth = levels.rows - level, col_depth = levels.cols - level;
    splits.push_back({0, low_cols, low_rows, high_cols, level, level, level, true, row_depth});
    splits.push_back({low_rows, 0, high_rows, low_cols, level, level, level, false, col_depth});
  }
  return splits;
}

Layout make_layout(std::size_t rows, std::size_t cols, Levels levels, std::vector<PacketSplit> splits) {
  Layout layout{rows, cols, levels, std::move(splits), {}};
  const int joint = std::min(levels.rows, levels.cols), deepest = std::max(levels.rows, levels.cols);
  add_band(layout, {0,
                    0,
                    low_length(rows, levels.rows),
                    low_length(cols, levels.cols),
                    deepest,
                    levels.rows,
                    levels.cols,
                    false,
                    false,
                    1,
                    {}});
  for (int level = deepest; level > joint; --level) {  // halve one dimension only
    const bool along_rows = levels.rows >= level;
    const std::size_t r = low_length(rows, std::min(level, levels.rows)),
                      c = low_length(cols, std::min(level, levels.cols));
    if (along_rows) {
      add_band(layout, {r, 0, low_length(rows, level - 1) - r, c, level, level, levels.cols, true, false, 1, {}});
    } else {
      add_band(layout, {0, c, r, low_length(cols, level - 1) - c, level, levels.rows, level, false, true, 1, {}});
    }
  }
  std::size_t next = 0;
  for (int level = joint; level >= 1; --level) {
    add_split_bands(layout, layout.splits[next++]);
    add_split_bands(layout, layout.splits[next++]);
    const std::size_t r = low_length(rows, level), c = low_length(cols, level);
    add_band(layout, {r,
                      c,
                      low_length(rows, level - 1) - r,
                      low_length(cols, level - 1) - c,
                      level,
                      level,
                      level,
                      true,
                      true,
                      1,
                      {}});
  }
  for (std::size_t b = 0; b < layout.bands.size(); ++b) find_parents(layout, b);
  return layout;
}

namespace {

/// The low band of a split after `depth` halvings.
wavelet::MatrixView low_band(const wavelet::MatrixView& matrix, const PacketSplit& split, int depth) {
  using Range = std::pair<std::size_t, std::size_t>;
  const std::size_t rows = split.along_rows ? low_length(split.rows, depth) : split.rows;
  const std::size_t cols = split.along_rows ? split.cols : low_length(split.cols, depth);
  return Kokkos::subview(matrix, Range(split.row0, split.row0 + rows), Range(split.col0, split.col0 + cols));
}

}  // namespace

void copy_rows(const wavelet::MatrixView& from, const wavelet::MatrixView& to) {
  for (std::size_t i = 0; i < from.extent(0); ++i) std::memcpy(&to(i, 0), &from(i, 0), from.extent(1) * sizeof(double));
}

void apply_split(const wavelet::MatrixView& matrix, const PacketSplit& split, int from, int to) {
  if (split.rows == 0 || split.cols == 0) return;
  const auto aside = wavelet::make_doubles(split.rows * split.cols);
  for (int k = from; k < to; ++k) {
    const wavelet::MatrixView low = low_band(matrix, split, k), copy(aside.get(), low.extent(0), low.extent(1));
    copy_rows(low, copy);
    wavelet::split(Kokkos::Serial(), copy, low, split.along_rows, !split.along_rows);
  }
}

void undo_split(const wavelet::MatrixView& matrix, const PacketSplit& split) {
  if (split.extra == 0 || split.rows == 0 || split.cols == 0) return;
  const auto aside = wavelet::make_doubles(split.rows * split.cols);
  for (int k = split.extra - 1; k >= 0; --k) {
    const wavelet::MatrixView low = low_band(matrix, split, k), copy(aside.get(), low.extent(0), low.extent(1));
    wavelet::join(Kokkos::Serial(), low, copy, split.along_rows, !split.along_rows);
    copy_rows(copy, low);
  }
}

}  // namespace effort::codec
