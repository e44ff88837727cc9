// The quantised coefficients of one band and the tree of its zero blocks.
#pragma once

#include "analytics/wavelet/pages.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace effort::codec {

/// Blocks of 2^leaf_bits x 2^leaf_bits coefficients are the leaves of the zero-block tree.
inline constexpr int leaf_bits = 3;

inline constexpr int most_level = 15;

/// Number of levels read at a time, which may include some past the last one.
inline constexpr std::size_t at_once = 16;

/// One level of the tree: for every node, the number of bit planes of its largest coefficient (0: all are zero).  A
/// border of zeros around the nodes makes bounds checks for neighbours unnecessary.
struct TreeLevel {
  std::size_t rows = 0, cols = 0, stride = 0;
  std::vector<std::uint8_t> planes;

  TreeLevel(std::size_t r, std::size_t c) : rows(r), cols(c), stride(c + 2), planes((r + 2) * (c + 2)) {}
  std::size_t at(std::size_t i, std::size_t j) const { return (i + 1) * stride + j + 1; }
};

/// Magnitudes in units of the finest step and signs, with a border of zeros; Q is wide enough for the planes.  `level`
/// is the part of a magnitude that encoder and decoder know, in units of the present plane, at most most_level.
/// Contexts are made of it.
template <typename Q>
struct BandData {
  std::size_t rows = 0, cols = 0, stride = 0;
  std::vector<Q> magnitude;
  std::vector<std::uint8_t> negative;
  std::vector<std::uint8_t> level;
  std::vector<TreeLevel> tree;  ///< [0]: leaves; the last has one node

  bool allocated() const { return !magnitude.empty(); }
  /// Bit planes of the largest magnitude.
  int planes() const { return allocated() ? int{tree.back().planes[tree.back().at(0, 0)]} : 0; }
  std::size_t at(std::size_t i, std::size_t j) const { return (i + 1) * stride + j + 1; }

  void allocate(std::size_t r, std::size_t c) {
    rows = r;
    cols = c;
    stride = c + 2;
    wavelet::make_zeros(magnitude, (r + 2) * stride);
    wavelet::make_zeros(negative, (r + 2) * stride);
    wavelet::make_zeros(level, (r + 2) * stride + at_once);
    std::size_t tr = (r + (1u << leaf_bits) - 1) >> leaf_bits, tc = (c + (1u << leaf_bits) - 1) >> leaf_bits;
    tree.clear();
    tree.reserve(static_cast<std::size_t>(std::bit_width(std::max(tr, tc))) + 1);
    tree.emplace_back(tr, tc);
    while (tr > 1 || tc > 1) {
      tr = (tr + 1) / 2;
      tc = (tc + 1) / 2;
      tree.emplace_back(tr, tc);
    }
  }

  /// Fills the tree from the magnitudes.
  void grow_tree() {
    TreeLevel& leaves = tree[0];
    for (std::size_t i = 0; i < rows; ++i) {
      const Q* row = &magnitude[at(i, 0)];
      for (std::size_t bj = 0; bj < leaves.cols; ++bj) {
        Q any = 0;
        const std::size_t end = std::min(cols, (bj + 1) << leaf_bits);
        for (std::size_t j = bj << leaf_bits; j < end; ++j) any |= row[j];
        std::uint8_t& planes = leaves.planes[leaves.at(i >> leaf_bits, bj)];
        planes = std::max<std::uint8_t>(planes, static_cast<std::uint8_t>(std::bit_width(any)));
      }
    }
    for (std::size_t k = 1; k < tree.size(); ++k) {
      const TreeLevel& below = tree[k - 1];
      for (std::size_t i = 0; i < below.rows; ++i)
        for (std::size_t j = 0; j < below.cols; ++j) {
          std::uint8_t& planes = tree[k].planes[tree[k].at(i / 2, j / 2)];
          planes = std::max(planes, below.planes[below.at(i, j)]);
        }
    }
  }
};

}  // namespace effort::codec
