// Steps that all methods share once the medoids are found.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// Throws std::invalid_argument if the table of all pairs of n objects would be too large.
void check_table_size(std::size_t n);

/// Puts each medoid into its own stratum, even if another medoid has the same values.
void label_medoids(Clustering& clustering, std::span<const std::int32_t> medoids);

/// Counts the members of each stratum.
void count_sizes(Clustering& clustering);

/// Strata of one member whose medoid differs from all others.
std::vector<std::int32_t> lone_strata(std::span<const std::int64_t> sizes, const Signatures& medoids);

/// The rows of the given objects, one after the other.
std::vector<double> rows_of(const Signatures& signatures, std::span<const std::int32_t> ids);

}  // namespace effort::cluster
