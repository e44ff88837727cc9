// Better medoids than CLARA's for slightly more time.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <cstdint>

namespace effort::cluster {

struct QualityParameters {
  int k = 1;       ///< strata, 1 to n
  int starts = 0;  ///< local searches on a sample that the refinement begins with; 0: 12
  std::uint64_t seed = 1;
};

/// k-medoids on all objects.  Few objects: FasterPAM (Schubert & Rousseeuw 2021) on all pairs from several starts.
/// Many: the same on a sample, refined by swaps with promising candidates (medoids of all starts, remote objects,
/// objects in the middle of strata) whose cost is computed over all objects.  The aim is a cost within 1 % of the best
/// of several runs of FasterPAM on all pairs.
///
/// @param space       Kokkos execution space instance, as for pam; the result does not depend on it
/// @param signatures  n x d, as for pam
/// @throws std::invalid_argument on bad signatures, on parameters outside their ranges, or for k above 4096
/// Time: O(n (16 k + 200) d) and little more.  Memory: O(n (48 k + 200)) numbers of 4 bytes in addition to the data, at
/// most 1 GiB unless n k needs more.
template <typename ExecutionSpace>
Clustering quality(const ExecutionSpace& space, const Signatures& signatures, const QualityParameters& parameters);

}  // namespace effort::cluster
