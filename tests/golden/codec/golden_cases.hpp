// The matrices behind the golden streams.
#pragma once

#include "analytics/codec/history.hpp"
#include "analytics/codec/tile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace effort::test {

/// Integer arithmetic only, so that every machine makes the same values.
inline std::vector<double> golden_matrix(std::size_t rows, std::size_t cols, bool flat) {
  std::vector<double> values;
  unsigned state = 7;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) {
      state = state * 1664525u + 1013904223u;
      const double noise = static_cast<double>(state >> 16) / 65536;
      values.push_back(flat ? 2.5 : static_cast<double>((i / 5) % 3) + (j % 10 == 9 ? 4 : 0) + noise / 8);
    }
  return values;
}

struct GoldenCase {
  std::string name;
  std::size_t rows, cols;
  bool flat;
  double nrmse;  ///< of the target
  codec::Coder coder;
  bool history;
  bool blocks = false;  ///< form 3: two slabs of two blocks
};

inline const std::vector<GoldenCase>& golden_cases() {
  using codec::Coder;
  static const std::vector<GoldenCase> cases{
      {"context_coarse", 24, 50, false, 0.03, Coder::context, false},
      {"context_fine", 17, 33, false, 1e-6, Coder::context, false},
      {"context_deep", 8, 9, false, 1e-13, Coder::context, false},
      {"context_large", 150, 120, false, 1e-3, Coder::context, false},
      {"ezw", 24, 50, false, 0.01, Coder::ezw, false},
      {"constant", 5, 6, true, 0.1, Coder::context, false},
      {"raw", 3, 3, false, 1e-16, Coder::context, false},
      {"history", 12, 210, false, 0.01, Coder::context, true},
      {"blocks", 24, 64, false, 0.01, Coder::context, true, true},
  };
  return cases;
}

/// Slabs of 40 steps and of the rest, each cut before row 8.
inline std::vector<std::byte> encode_blocks(const GoldenCase& c, const std::vector<double>& values) {
  std::vector<codec::SlabBytes> slabs;
  double squares = 0, worst = 0, unit = 0;
  for (const double v : values) unit = std::max(unit, v);
  for (const auto& [col0, col1] : {std::pair<std::size_t, std::size_t>{0, 40}, {40, c.cols}}) {
    slabs.push_back({col1 - col0, {}});
    for (const auto& [row0, row1] : {std::pair<std::size_t, std::size_t>{0, 8}, {8, c.rows}}) {
      std::vector<double> part;
      for (std::size_t i = row0; i < row1; ++i)
        for (std::size_t j = col0; j < col1; ++j) part.push_back(values[i * c.cols + j]);
      const codec::Matrix matrix = codec::prepare(part, row1 - row0, col1 - col0, {});
      const double scale = std::ldexp(1.0, -matrix.exponent);
      const codec::Goal goal{codec::Target::Kind::nrmse, c.nrmse * unit * scale / 2, unit * scale};
      const codec::TileCode code =
          c.coder == codec::Coder::ezw ? codec::encode_tile_ezw(matrix, goal) : codec::encode_tile(matrix, goal);
      squares += code.errors.rms / scale * (code.errors.rms / scale) * static_cast<double>(part.size());
      worst = std::max(worst, code.errors.max / scale);
      slabs.back().blocks.push_back({row1 - row0, code.bytes});
    }
  }
  return codec::write_blocks(c.rows, slabs, {std::sqrt(squares / static_cast<double>(values.size())) / unit, worst});
}

inline std::vector<std::byte> encode_golden(const GoldenCase& c) {
  const auto values = golden_matrix(c.rows, c.cols, c.flat);
  if (c.blocks) return encode_blocks(c, values);
  if (!c.history) return codec::encode(values, c.rows, c.cols, codec::Target::nrmse(c.nrmse), c.coder);
  codec::History history(c.rows, codec::Target::nrmse(c.nrmse));
  for (std::size_t first = 0; first < c.cols; first += 10) {
    std::vector<double> block;
    for (std::size_t i = 0; i < c.rows; ++i)
      for (std::size_t j = first; j < first + 10; ++j) block.push_back(values[i * c.cols + j]);
    history.append(block, 10);
  }
  return history.serialize();
}

}  // namespace effort::test
