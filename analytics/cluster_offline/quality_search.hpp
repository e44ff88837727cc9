// The search of the quality mode: starts on few objects, and their refinement on all.
#pragma once

#include "analytics/cluster/clustering.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/kmedoids.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// Medoids and their cost on the objects on which they were compared.
struct Start {
  std::vector<std::int32_t> medoids;
  double cost = 0;  ///< sum of the distances to the nearest
};

/// Local optima of FasterPAM on a table of all pairs, from BUILD and from random medoids (drawn by distance, as
/// k-means++ does, and uniformly in turn), each once, by ascending cost.
/// @param starts  how many are tried, at least 1
std::vector<Start> search_starts(const Kernels& kernels, const DistanceTable& all, int k, int starts,
                                 std::uint64_t seed);

/// The best local optimum of FasterPAM on a table of all pairs, from the first few starts and near the best.
Start best_of_starts(const Kernels& kernels, const DistanceTable& all,
                     std::span<const std::vector<std::int32_t>> starts, std::uint64_t seed);

/// The best of a few starts, refined on all objects.  Two steps of eager swaps among some candidates.  Costs are those
/// on all objects; if there are many, on a sample until the last rounds.  The first step searches among the medoids of
/// all starts, objects far from them and objects in the middle of their strata.  The second searches, several times and
/// for each of the best few optima of the first, among objects in the middle of each stratum.
/// @param starts  ids of medoids, the most promising set first
/// Memory: sizeof(T) n (k 48 + 200) bytes, at most 2^28 sizeof(T) unless n k needs more.  T is float where its
/// precision is enough.
template <typename T>
std::vector<std::int32_t> refine_starts(const Kernels& kernels, const RowsOf<T>& objects,
                                        std::span<const std::vector<std::int32_t>> starts, std::uint64_t seed);

}  // namespace effort::cluster
