// Clustering large applications: k-medoids by samples, on one node.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <cstdint>

namespace effort::cluster {

struct ClaraParameters {
  int k = 0;                 ///< strata, 1 to n and at most 4096; 0: chosen from the data, 1 to k_max (see choose_k)
  int k_max = 10;            ///< with k = 0: the most strata, at least 1 (fewer where there are fewer objects)
  int samples = 5;           ///< trials, at least 1
  int sample_size = 0;       ///< objects per sample, at least k; 0: 40 + 2 k; more than n counts as n
  std::uint64_t seed = 1;    ///< what the draws follow from, together with trial and object id
  bool pooled = true;        ///< one more trial on all samples together, evaluated in the same read of the data
  int finalists = 2;         ///< with `pooled`: trials, the best on all samples together, that are tried on all objects; 0: all
  bool join = false;         ///< the classical form: the best medoids so far join the next sample (one read per trial)
  bool spread = false;       ///< across nodes: each trial on a node of its own (one more collective per trial)
  int previous_k = 0;        ///< with k = 0: strata of the window before, kept unless another k is clearly better; 0: none
};

/// CLARA (Kaufman & Rousseeuw 1990, chapter 3): PAM with eager swaps on samples drawn without replacement; the medoids
/// that are best for all objects win.  Their sets are evaluated together, in one read of the data: by default those of the
/// two trials that are best for all samples' objects; with all as finalists these two exactly, and the others' costs are
/// bounded from below first and summed only where that does not rule them out (docs/adr/0021).
///
/// @param space       as for pam; the result does not depend on it, nor on its number of threads
/// @param signatures  n x d, as for pam
/// @throws std::invalid_argument on bad signatures, or on parameters outside their ranges
/// Time: O(samples (s^2 d + k n d)).  Memory: O(n + samples s^2) beside the data.  The same as distributed_clara on any
/// number of nodes.
template <typename ExecutionSpace>
Clustering clara(const ExecutionSpace& space, const Signatures& signatures, const ClaraParameters& parameters);

}  // namespace effort::cluster
