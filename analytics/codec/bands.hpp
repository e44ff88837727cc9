// The bands of a transformed matrix: positions, weights, and the coarser bands that predict them.
#pragma once

#include "analytics/wavelet/cdf97.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace effort::codec {

/// A coarser band that predicts a band, and the shifts that map indices to it.
struct BandParent {
  int band = -1;  ///< index into Layout::bands; -1: none
  int row_shift = 0;
  int col_shift = 0;
};

/// One rectangle of coefficients of the same kind.
struct Band {
  std::size_t row0, col0, rows, cols;  ///< position in the transformed matrix
  int level;                 ///< the joint level that made it; needed for approximations finer than this level
  int row_level, col_level;  ///< halvings of each dimension
  bool row_high, col_high;
  double gain;  ///< norm of its basis functions in the reconstruction
  std::array<BandParent, 2> parents;
};

/// A band of the plain transform that is halved further along its smooth direction (a fully separable
/// decomposition there): `extra` halvings along the rows (row_high false) or the columns.
struct PacketSplit {
  std::size_t row0, col0, rows, cols;
  int level;
  int row_level, col_level;
  bool along_rows;
  int deepest;  ///< possible halvings
  int extra = 0;
};

/// All bands, coarse ones first; every band comes after its parents.
struct Layout {
  std::size_t rows, cols;
  wavelet::Levels levels;
  std::vector<PacketSplit> splits;
  std::vector<Band> bands;
};

/// The bands that may be split further, in coding order; none is split yet.
std::vector<PacketSplit> possible_splits(std::size_t rows, std::size_t cols, wavelet::Levels levels);

/// The bands for a choice of splits (from possible_splits(), with `extra` set).
Layout make_layout(std::size_t rows, std::size_t cols, wavelet::Levels levels, std::vector<PacketSplit> splits);

/// Copies between matrices of equal extents whose rows are contiguous.
void copy_rows(const wavelet::MatrixView& from, const wavelet::MatrixView& to);

/// Applies or undoes the extra halvings of one split in a row-major matrix.
void apply_split(const wavelet::MatrixView& matrix, const PacketSplit& split, int from, int to);
void undo_split(const wavelet::MatrixView& matrix, const PacketSplit& split);

}  // namespace effort::codec
