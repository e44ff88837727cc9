// Synthetic effort matrices that resemble real runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace effort::bench {

/// static, amr, ckpt, remesh, rough, spiky, noise
const std::vector<std::string>& matrix_kinds();

/// rows x cols values of a kind; the same for the same arguments on every machine with the same libm.
/// Errors: std::invalid_argument for an unknown kind.
std::vector<double> make_matrix(const std::string& kind, std::size_t rows, std::size_t cols, std::uint64_t seed);

}  // namespace effort::bench
