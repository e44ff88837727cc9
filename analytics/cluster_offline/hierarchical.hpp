// Agglomerative clustering, for regions by the shape of their load.
#pragma once

#include "analytics/cluster/clustering.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// Distance between two groups: that of their nearest members, of their farthest members, the mean over pairs, or
/// Ward's increase of the sum of squares expressed as a distance (R: `ward.D2`).
enum class Linkage { single, complete, average, ward };

/// One merge of the dendrogram.  Groups 0..n-1 are the objects; merge i makes group n + i.
struct Merge {
  std::int32_t first = 0, second = 0;  ///< the groups that were merged, first < second
  double height = 0;                   ///< their distance
  std::int32_t size = 0;               ///< objects in the new group
};

/// The n - 1 merges in order of ascending height.
struct Dendrogram {
  std::int32_t n = 0;
  std::vector<Merge> merges;
};

/// Agglomerative clustering by the nearest-neighbour chain (Murtagh 1985; Gamblin 2009, section 5.4.1).
/// @param signatures  n x d, finite
/// @throws std::invalid_argument on bad signatures, or n above 65,536
/// Time: O(n^2 (d + 1)).  Memory: 8 n^2 bytes.  The result does not depend on the space.
template <typename ExecutionSpace>
Dendrogram hierarchical(const ExecutionSpace& space, const Signatures& signatures, Linkage linkage);

/// Cuts a dendrogram into k groups, 1 to n.  Returns each object's group, numbered in order of first appearance.
std::vector<std::int32_t> cut_to_number(const Dendrogram& dendrogram, int k);

/// Scales each row to mean 0 and Euclidean length 1 (a constant row becomes 0), so that distances compare shapes alone:
/// the squared distance of two rows is 2 - 2 r, r their correlation.  In place, [n][d].
void normalise_shapes(std::span<double> values, std::size_t n, std::size_t d);

/// Medoids, cost and sizes of given groups.  Each object's distance is that to the medoid of its own group.
/// @param labels  [n] 0..k-1, each occurring
/// @throws std::invalid_argument on bad signatures or labels
/// Time: O(sum of squared group sizes x d).
template <typename ExecutionSpace>
Clustering with_medoids(const ExecutionSpace& space, const Signatures& signatures,
                        std::span<const std::int32_t> labels);

}  // namespace effort::cluster
