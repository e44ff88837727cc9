// How many bytes ranks exchange, as a sparse graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::placement {

/// Bytes between two ranks, in either direction.
struct Exchange {
  std::int32_t a = 0, b = 0;
  double bytes = 0;
};

/// An undirected graph of ranks.  Memory: O(ranks + pairs).
class TrafficGraph {
 public:
  struct Neighbour {
    std::int32_t rank = 0;
    double bytes = 0;  ///< in both directions together
  };

  /// @param exchanges  in any order; several of one pair are added up, those of a rank with itself are ignored
  /// @throws std::invalid_argument if a rank is not in [0, ranks), or bytes are negative or not finite
  TrafficGraph(std::int32_t ranks, std::span<const Exchange> exchanges);

  std::int32_t ranks() const { return static_cast<std::int32_t>(first_.size() - 1); }
  /// The neighbours of a rank, in ascending order.
  std::span<const Neighbour> of(std::int32_t rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return std::span(neighbours_).subspan(first_[r], first_[r + 1] - first_[r]);
  }
  /// The bytes of all pairs, each counted once.
  double bytes() const { return bytes_; }

 private:
  std::vector<std::size_t> first_;
  std::vector<Neighbour> neighbours_;
  double bytes_ = 0;
};

}  // namespace effort::placement
