// How good a clustering is, and whether it is one.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::cluster {

/// Mean distance of each object to the medoid of its label.
double mean_distance(const Signatures& signatures, std::span<const std::int32_t> medoids,
                     std::span<const std::int32_t> labels);

/// Average silhouette over all objects (Rousseeuw 1987); a member of a stratum of one counts 0; 0 for fewer than two
/// strata.  Time O(n^2 d), memory O(n k).
double average_silhouette(const Signatures& signatures, std::span<const std::int32_t> labels, int k);

/// The same on a symmetric matrix of distances, [n][n].
double average_silhouette(std::span<const double> distances, std::span<const std::int32_t> labels, int k);

/// Mirkin distance of two clusterings of the same n objects: ordered pairs that are together in one and apart in the
/// other, divided by n^2 (Mirkin 1996; Meila 2005); 0 for equal clusterings, below 1.  Labels are 0 or above.
/// @throws std::invalid_argument when lengths differ or a label is negative
double mirkin_distance(std::span<const std::int32_t> a, std::span<const std::int32_t> b);

/// Mean and standard deviation (divisor members - 1; 0 for one member) of every region in every stratum.
struct StratumProfile {
  std::vector<std::int64_t> sizes;  ///< [k]
  std::vector<double> mean;         ///< [k][d]
  std::vector<double> deviation;    ///< [k][d]
};

/// @param labels  [n] 0..k-1
/// @throws std::invalid_argument when labels do not fit
StratumProfile stratum_profile(const Signatures& signatures, std::span<const std::int32_t> labels, int k);

/// What is wrong with a clustering; empty when it is right: medoids are objects, ascending and distinct, every object
/// is at a nearest medoid (to 1e-12 relative), each medoid in its own stratum, sizes and cost (to 1e-9 relative,
/// recomputed in long double) are those of the labels.
std::string verify(const Signatures& signatures, const Clustering& clustering);

}  // namespace effort::cluster
