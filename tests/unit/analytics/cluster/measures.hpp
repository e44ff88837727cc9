// Measures of the quality of a clustering, and a verifier.
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

/// The first error in a clustering; empty if it is right.  Medoids must be distinct objects in ascending order, every
/// object must be at a nearest medoid (to 1e-12 relative), each medoid must be in its own stratum, and sizes and cost
/// (to 1e-9 relative, recomputed in long double) must be those of the labels.
std::string verify(const Signatures& signatures, const Clustering& clustering);

}  // namespace effort::cluster
