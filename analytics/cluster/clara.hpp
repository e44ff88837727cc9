// CLARA (clustering large applications): k-medoids from samples, on one node.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <cstdint>

namespace effort::cluster {

struct ClaraParameters {
  int k = 0;               ///< strata, 1 to n and at most 4096; 0: chosen from the data, 1 to k_max (see choose_k)
  int k_max = 10;          ///< with k = 0: the most strata, at least 1 (fewer if there are fewer objects)
  int samples = 5;         ///< trials, at least 1
  int sample_size = 0;     ///< objects per sample, at least k; 0: 40 + 2 k; more than n counts as n
  std::uint64_t seed = 1;  ///< determines the draws, together with trial and object id
  int previous_k = 0;  ///< with k = 0: the previous window's strata, kept unless another k is clearly better; 0: none
};

/// CLARA (Kaufman & Rousseeuw 1990, chapter 3): PAM with eager swaps on samples drawn without replacement, and once
/// more on all samples together.  The two sets of medoids that cost least on the samples are evaluated on all objects
/// in one pass over the data, and the better one wins (docs/adr/0021).
///
/// @param space       as for pam; the result does not depend on it, nor on its number of threads
/// @param signatures  n x d, as for pam
/// @throws std::invalid_argument on bad signatures, or on parameters outside their ranges
/// Time: O(samples (s^2 d + k n d)).  Memory: O(n + samples s^2) in addition to the data.  The result equals that of
/// distributed_clara on any number of nodes.
template <typename ExecutionSpace>
Clustering clara(const ExecutionSpace& space, const Signatures& signatures, const ClaraParameters& parameters);

}  // namespace effort::cluster
