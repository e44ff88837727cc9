// Better medoids than CLARA's for little more time.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <cstdint>

namespace effort::cluster {

struct QualityParameters {
  int k = 1;               ///< strata, 1 to n
  int batch = 0;           ///< random objects that estimate the objective, at least k; 0: chosen from n and k
  std::uint64_t seed = 1;
};

/// k-medoids with all objects as candidates, the objective estimated on one random batch, then refined on all objects:
/// eager swaps on the n x batch distances (OneBatchPAM, arXiv 2501.19285), then in each stratum the most promising
/// candidates are compared by their exact cost.  Aims at 1 % of the cost of FasterPAM on all pairs.
///
/// @param space       Kokkos execution space instance, as for pam; the result does not depend on it
/// @param signatures  n x d, as for pam
/// @throws std::invalid_argument on bad signatures, or on parameters outside their ranges
/// Time: O(n batch d).  Memory: 8 n batch bytes beside the data.
template <typename ExecutionSpace>
Clustering quality(const ExecutionSpace& space, const Signatures& signatures, const QualityParameters& parameters);

}  // namespace effort::cluster
