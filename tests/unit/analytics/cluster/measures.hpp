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

/// What is wrong with a clustering; empty when it is right: medoids are objects, ascending and distinct, every object
/// is at a nearest medoid (to 1e-12 relative), each medoid in its own stratum, sizes and cost (to 1e-9 relative,
/// recomputed in long double) are those of the labels.
std::string verify(const Signatures& signatures, const Clustering& clustering);

}  // namespace effort::cluster
