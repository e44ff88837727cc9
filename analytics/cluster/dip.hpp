// Is a distribution of numbers unimodal?
#pragma once

#include <span>

namespace effort::cluster {

/// The dip of a sample: the largest distance between its distribution function and the nearest unimodal one, 0 to 0.25
/// (Hartigan & Hartigan 1985; the algorithm is Hartigan 1985, AS 217).  0 when all values are equal.
/// For a uniform distribution dip x sqrt(n) exceeds 0.47 with probability 0.05 and 0.55 with probability 0.01.
/// @param sorted  ascending
/// Time: O(n) for most samples.
double dip_statistic(std::span<const double> sorted);

}  // namespace effort::cluster
