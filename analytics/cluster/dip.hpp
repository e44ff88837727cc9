// A test of unimodality.
#pragma once

#include <span>

namespace effort::cluster {

/// The dip of a sample: the largest distance between its distribution function and the nearest unimodal one, 0 to 0.25
/// (Hartigan & Hartigan 1985; the algorithm is Hartigan 1985, AS 217).  0 when all values are equal.
/// For 100 uniform values dip x sqrt(n) exceeds 0.47 with probability 0.10, 0.51 with 0.05, 0.59 with 0.01 and 0.64
/// with 0.003 (simulated); for fewer values the limits are a little lower, for more a little higher.
/// @param sorted  ascending
/// Time: O(n) for most samples.
double dip_statistic(std::span<const double> sorted);

}  // namespace effort::cluster
