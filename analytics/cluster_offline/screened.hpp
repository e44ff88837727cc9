// PAM whose candidates are screened in single precision.
#pragma once

#include "analytics/cluster/kernels.hpp"

#include <cstdint>
#include <vector>

namespace effort::cluster {

/// BUILD, and SWAP by the steepest rule, with the result of build_medoids() and swap_medoids() on all distances in
/// double precision.  The table is in single precision.  It says, within a bound of its errors, which candidates may be
/// the best; these alone are evaluated in double precision.
///
/// @param objects  of magnitudes up to about 1
/// @return the medoids by slot; empty if too many candidates are about equally good, or d is above 65,536
/// Memory: 4 n^2 bytes.
std::vector<std::int32_t> screened_medoids(const Kernels& kernels, const Signatures& objects, int k, int max_swaps);

}  // namespace effort::cluster
