// The rows of bands that a node of a distributed transform holds.
#include "analytics/codec/distributed_transform.hpp"

#include "analytics/wavelet/cdf97.hpp"

namespace effort::codec {

using wavelet::low_length;
using wavelet::MatrixView;

namespace {

/// The parts that `extra` halvings make of an extent: low first, then high ones, the coarsest first.
struct SplitPart {
  std::size_t first, size;
  int depth;
  bool high;
};
std::vector<SplitPart> parts_of(std::size_t extent, int extra) {
  std::vector<SplitPart> parts{{0, low_length(extent, extra), extra, false}};
  for (int k = extra; k >= 1; --k) {
    const std::size_t low = low_length(extent, k);
    parts.push_back({low, low_length(extent, k - 1) - low, k, true});
  }
  return parts;
}

}  // namespace

void DistributedTransform::add_piece(int row_level, bool row_high, int col_level, bool col_high, std::size_t row0,
                                     const MatrixView& coefficient, const MatrixView& trial, bool replicated) {
  if (coefficient.size() == 0) return;
  for (std::size_t b = 0; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    if (band.row_level == row_level && band.row_high == row_high && band.col_level == col_level &&
        band.col_high == col_high)
      pieces_.push_back({b, row0, coefficient, trial, replicated});
  }
}

void DistributedTransform::find_pieces() {
  pieces_.clear();
  const int fine = static_cast<int>(fine_.size());
  for (std::size_t b = 0; b < layout_.bands.size(); ++b) {
    const Band& band = layout_.bands[b];
    if (b > 0 && band.level <= fine) continue;
    const auto place = [&](bool of_trial) {
      return part(coarse_.at(of_trial, 0, coarse_.cols), band.row0, band.rows, band.col0, band.cols);
    };
    pieces_.push_back({b, 0, place(false), place(true), true});
  }
  for (int level = fine; level >= 1; --level) fine_pieces(level);
}

void DistributedTransform::fine_pieces(int level) {
  Level& here = fine_[static_cast<std::size_t>(level) - 1];
  const std::size_t row0 = distribution_.owned(nodes_.rank(), level).first;
  const std::size_t low = low_cols(level), width = here.low.cols;
  const int row_level = std::min(level, levels_.rows), col_level = std::min(level, levels_.cols);
  const PacketSplit *rows = split_at(level, true), *cols = split_at(level, false);
  if (here.halves_cols) {
    if (rows && rows->extra > 0) {
      cascade_pieces(level, cascades_[static_cast<std::size_t>(level) - 1], *rows);
    } else {
      add_piece(row_level, false, col_level, true, row0, here.low.at(false, low, width - low),
                here.low.at(true, low, width - low), false);
    }
    if (here.halves_rows)
      add_piece(row_level, true, col_level, true, row0, here.high.at(false, low, width - low),
                here.high.at(true, low, width - low), false);
  }
  if (!here.halves_rows) return;
  if (cols && cols->extra > 0) {
    column_pieces(level, *cols);
  } else {
    add_piece(row_level, true, col_level, false, row0, here.high.at(false, 0, low), here.high.at(true, 0, low), false);
  }
}

void DistributedTransform::cascade_pieces(int level, Cascade& cascade, const PacketSplit& split) {
  const int me = nodes_.rank(), distributed_depth = std::min(split.extra, cascade.depth());
  for (int k = 1; k <= distributed_depth; ++k) {
    Grid& high = cascade.high[static_cast<std::size_t>(k) - 1];
    add_piece(level + k, true, level, true, distribution_.owned(me, level + k).first, high.at(false, 0, high.cols),
              high.at(true, 0, high.cols), false);
  }
  if (split.extra <= cascade.depth()) {
    Grid& low = cascade.low[static_cast<std::size_t>(split.extra) - 1];
    add_piece(level + split.extra, false, level, true, distribution_.owned(me, level + split.extra).first,
              low.at(false, 0, low.cols), low.at(true, 0, low.cols), false);
    return;
  }
  Grid& rest = cascade.gathered;
  for (const SplitPart& p : parts_of(rest.rows, split.extra - cascade.depth()))
    add_piece(level + cascade.depth() + p.depth, p.high, level, true, 0,
              part(rest.at(false, 0, rest.cols), p.first, p.size, 0, rest.cols),
              part(rest.at(true, 0, rest.cols), p.first, p.size, 0, rest.cols), true);
}

void DistributedTransform::column_pieces(int level, const PacketSplit& split) {
  const MatrixView coefficient = split_region(level, false, false), trial = split_region(level, false, true);
  const std::size_t row0 = distribution_.owned(nodes_.rank(), level).first;
  for (const SplitPart& p : parts_of(coefficient.extent(1), split.extra))
    add_piece(level, true, level + p.depth, p.high, row0, part(coefficient, 0, coefficient.extent(0), p.first, p.size),
              part(trial, 0, trial.extent(0), p.first, p.size), false);
}

}  // namespace effort::codec
