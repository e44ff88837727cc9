// Which node each rank should run on, so that fewer bytes cross fewer links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analytics/placement/graph.hpp"
#include "analytics/placement/network.hpp"

namespace effort::placement {

/// The cost of a placement, counting each pair of ranks once.
struct Cost {
  double off_node = 0;    ///< bytes between ranks on different nodes
  double link_bytes = 0;  ///< bytes times the links that they travel
};

/// @param node_of  [ranks] of the graph, each in [0, network.nodes())
/// O(pairs x height of the network).
Cost cost_of(const TrafficGraph& graph, const Network& network, std::span<const std::int32_t> node_of);

struct Placement {
  std::vector<std::int32_t> node_of;  ///< [ranks]
  Cost before, after;
};

/// A placement with at most the link bytes of the present one.  Every node keeps its number of ranks.  Recursive
/// bisection along the tree: the ranks of a switch are divided among the vertices below it.  Deterministic.
/// @param node_of  [ranks] the present placement, each in [0, network.nodes())
/// @throws std::invalid_argument if its size is not that of the graph, or if it names another node
/// Time: O(pairs x log ranks x log nodes) per pass of `bisect`; there are few passes.
Placement place(const TrafficGraph& graph, const Network& network, std::span<const std::int32_t> node_of);

/// Divides ranks into two parts such that few bytes are exchanged between them.  One part grows from a rank at the edge
/// of the graph, always by the rank that exchanges the most bytes with it.  Then ranks change sides in turn, the one
/// that gains the most first, and the best state is kept (Kernighan & Lin 1970 with the queues of Fiduccia & Mattheyses
/// 1982), until a pass finds no better one.  The best result from four starts at the edges of the graph is returned.
/// @param ranks  distinct; afterwards the `first_part` ranks of the first part come first
void bisect(const TrafficGraph& graph, std::span<std::int32_t> ranks, std::size_t first_part);

}  // namespace effort::placement
