// Distances in single precision, and how far they may be off.
#pragma once

#include "analytics/cluster/kmedoids.hpp"

#include <vector>

namespace effort::cluster {

/// Distances between all pairs of objects in single precision: half the memory and a fraction of the time of exact
/// ones. The one of i and j differs from all_distances' by at most relative * distance + absolute[i] + absolute[j].
struct SingleDistances {
  Table<float> table;
  double relative = 0;
  std::vector<double> absolute;  ///< [n]
};

/// @param objects  values of magnitude 1, so that squares neither overflow nor vanish; at most 2^20 columns
/// Values are taken relative to the columns' means, so a common shift costs no precision.  Time: O(n^2 d).
SingleDistances all_distances_single(const Workers& workers, const Signatures& objects);

}  // namespace effort::cluster
