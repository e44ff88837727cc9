// Other compressors: run in this process if their libraries were found, and published figures.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace effort::bench {

struct Result {
  std::size_t bytes = 0;
  double nrmse = 0;
  double encode_seconds = 0, decode_seconds = 0;  ///< CPU time of the thread
};

double thread_seconds();
double nrmse_of(const std::vector<double>& values, const std::vector<double>& back);

/// zfp in accuracy mode, at the largest power-of-two tolerance whose measured error is within the bound.
std::optional<Result> run_zfp(const std::vector<double>& values, std::size_t rows, std::size_t cols, double bound);

/// OpenJPEG's 9/7 transform on 16-bit samples, at the highest ratio whose measured error is within the bound; empty if
/// 16 bits do not suffice.
std::optional<Result> run_openjpeg(const std::vector<double>& values, std::size_t rows, std::size_t cols, double bound);

/// Ratios of SPERR 0.8.5 and SZ3 3.3.2 measured on matrices of the same formulae (1024 x 1024 and 16384 x 200; other
/// random numbers): at nrmse 4 %, 1 %, 0.1 % and 1e-6.
std::optional<std::vector<double>> published(const std::string& codec, const std::string& kind, std::size_t rows);

}  // namespace effort::bench
