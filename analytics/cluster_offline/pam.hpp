// Partitioning around medoids on all pairs of distances.
#pragma once

#include "analytics/cluster/kmedoids.hpp"

namespace effort::cluster {

struct PamParameters {
  int k = 1;  ///< strata, 1 to n
  SwapRule swap = SwapRule::steepest;
  int max_swaps = 10000;  ///< swaps after which the search ends; at least 0
};

/// Partitioning around medoids: BUILD, then SWAP until no swap lowers the cost (Kaufman & Rousseeuw 1990, chapter 2).
/// Each steepest pass costs O(n^2) by the bookkeeping of FastPAM1 (Schubert & Rousseeuw 2019, section 3.1); the eager
/// rule is FasterPAM (Schubert & Rousseeuw 2021).  With the steepest rule the medoids are those of R's
/// `pam(variant = "original")` wherever there are no ties.
///
/// @param space       Kokkos execution space instance (Serial, or OpenMP from the thread that initialised Kokkos); the
///                    result does not depend on it, nor on its number of threads
/// @param signatures  n x d, finite; distances use differences of values, so a common offset costs no precision;
///                    values whose squares would overflow or underflow are scaled internally by a power of two
/// @throws std::invalid_argument on bad signatures (see check_signatures), k outside 1..n, or n above 65,536 (the
///         distances would not fit into memory: use clara or quality)
/// Memory: 8 n^2 bytes.  Time: O(n^2 d) for the distances, O(n^2) per medoid built and per swap.  Any thread; no
/// output.
template <typename ExecutionSpace>
Clustering pam(const ExecutionSpace& space, const Signatures& signatures, const PamParameters& parameters);

}  // namespace effort::cluster
