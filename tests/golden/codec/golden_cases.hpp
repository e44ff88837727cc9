// The matrices behind the golden streams.
#pragma once

#include "analytics/codec/history.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace effort::test {

/// Whole arithmetic only, so that every machine makes the same values.
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
};

inline const std::vector<GoldenCase>& golden_cases() {
  using codec::Coder;
  static const std::vector<GoldenCase> cases{
      {"context_coarse", 24, 50, false, 0.03, Coder::context, false}, {"context_fine", 17, 33, false, 1e-6, Coder::context, false},
      {"context_deep", 8, 9, false, 1e-13, Coder::context, false},    {"context_large", 150, 120, false, 1e-3, Coder::context, false},
      {"ezw", 24, 50, false, 0.01, Coder::ezw, false},                {"constant", 5, 6, true, 0.1, Coder::context, false},
      {"raw", 3, 3, false, 1e-16, Coder::context, false},             {"history", 12, 210, false, 0.01, Coder::context, true},
  };
  return cases;
}

inline std::vector<std::byte> encode_golden(const GoldenCase& c) {
  const auto values = golden_matrix(c.rows, c.cols, c.flat);
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
