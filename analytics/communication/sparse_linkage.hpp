// Agglomerative clustering for objects most of whose pairs are equally far apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace effort::communication {

/// The distance between two groups: that of their nearest members, or the mean over all pairs.
enum class Linkage : std::uint8_t { single, average };

/// The distance between two objects; each pair occurs at most once.
struct Distance {
  std::uint32_t a = 0, b = 0;  ///< a != b
  double distance = 0;         ///< >= 0, finite
};

/// One merge.  Groups 0..n-1 are the objects, merge i makes group n + i, as SciPy numbers them.
struct Merge {
  std::uint32_t first = 0, second = 0;  ///< first < second
  double distance = 0;
  std::uint32_t members = 0;  ///< of the new group
};

/// The n - 1 merges by ascending distance.
///
/// Single linkage is Kruskal's minimum spanning tree (Gower & Ross 1969).  Average linkage is a nearest-neighbour chain
/// (Murtagh 1985) on sparse lists: for two groups it keeps the sum S and the number m of the given distances, so that
/// their mean distance is (S + (|A| |B| - m) absent) / (|A| |B|), exactly, without memory for absent pairs.
/// @param absent  distance of all pairs that are not given; at least the largest given one
/// @throws std::invalid_argument on an object out of range, a negative or infinite distance, or too small an `absent`
/// Time: O(m log m) for m distances with single linkage; O(m log n + n x neighbours) with average linkage.
/// Memory: O(n + m).
std::vector<Merge> sparse_linkage(std::size_t n, std::span<const Distance> distances, double absent, Linkage linkage);

}  // namespace effort::communication
