// Chooses the number of strata.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <vector>

namespace effort::cluster {

struct ChooseKParameters {
  int k_max = 10;            ///< the most strata, at least 1
  int previous_k = 0;        ///< strata of the previous window; 0: none
  double clear_gain = 0.05;  ///< least increase in average silhouette for which previous_k is given up
};

struct ChosenK {
  int k = 1;
  double silhouette = -1;           ///< average silhouette of that k, -1 to 1; -1 for k = 1
  std::vector<double> silhouettes;  ///< [k_max + 1] by k; -1 where not defined or a stratum is not separated
};

/// The number of strata with the largest average silhouette (Rousseeuw 1987) among those whose strata are all separated
/// from their nearest neighbour; 1 when there is none.  Two strata count as separated when the projection of their
/// members on the line through the medoids has more than one mode (dip test, Hartigan & Hartigan 1985), or when the gap
/// between them is several times their widths.  A smooth gradient or a single cloud is therefore one stratum.  Both
/// thresholds are lower for previous_k, so that noise does not change the number from window to window.
///
/// @param space       Kokkos execution space instance, as for pam
/// @param signatures  n x d, as for pam; meant for a sample of at most a few hundred objects
/// @throws std::invalid_argument on bad signatures or parameters outside their ranges
/// Time: O(n^2 (d + k_max)).  Memory: 8 n^2 bytes.
template <typename ExecutionSpace>
ChosenK choose_k(const ExecutionSpace& space, const Signatures& signatures, const ChooseKParameters& parameters);

}  // namespace effort::cluster
