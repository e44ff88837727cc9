// What all methods do with the medoids they have found.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// Throws std::invalid_argument when all pairs of n objects are too many to keep.
void check_table_size(std::size_t n);

/// Every medoid into its own stratum, also where another medoid has the same values.
void label_medoids(Clustering& clustering, std::span<const std::int32_t> medoids);

/// Sizes from labels.
void count_sizes(Clustering& clustering);

/// Strata of one member whose medoid differs from all others.
std::vector<std::int32_t> lone_strata(std::span<const std::int64_t> sizes, const Signatures& medoids);

/// The rows of the given objects, one after the other.
std::vector<double> rows_of(const Signatures& signatures, std::span<const std::int32_t> ids);

}  // namespace effort::cluster
