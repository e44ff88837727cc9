#include "analytics/placement/placement.hpp"

#include <numeric>
#include <stdexcept>
#include <utility>

namespace effort::placement {
namespace {

/// Divides the ranks along the tree, top down.
class Division {
 public:
  /// @param room  [nodes] ranks on each; they add up to the graph's ranks
  Division(const TrafficGraph& graph, const Network& network, std::vector<std::int32_t> room)
      : graph_(graph), network_(network), room_(std::move(room)), node_of_(static_cast<std::size_t>(graph.ranks()), 0) {
    const std::int32_t root = network.root();
    room_.resize(static_cast<std::size_t>(network.vertices()), 0);
    add_up(root);
    std::vector<std::int32_t> ranks(node_of_.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    divide(std::span(&root, 1), ranks);
  }

  std::vector<std::int32_t> take() { return std::move(node_of_); }

 private:
  std::int32_t& room(std::int32_t vertex) { return room_[static_cast<std::size_t>(vertex)]; }

  std::int32_t add_up(std::int32_t vertex) {
    for (const std::int32_t below : network_.below(vertex)) room(vertex) += add_up(below);
    return room(vertex);
  }

  /// @param vertices  nodes and switches among which the ranks are divided
  void divide(std::span<const std::int32_t> vertices, std::span<std::int32_t> ranks) {
    if (ranks.empty()) return;
    if (vertices.size() == 1) {
      if (vertices.front() >= network_.nodes()) return divide(network_.below(vertices.front()), ranks);
      for (const std::int32_t rank : ranks) node_of_[static_cast<std::size_t>(rank)] = vertices.front();
      return;
    }
    const std::size_t half = vertices.size() / 2;
    std::size_t first_part = 0;
    for (const std::int32_t vertex : vertices.first(half)) first_part += static_cast<std::size_t>(room(vertex));
    if (first_part > 0 && first_part < ranks.size()) bisect(graph_, ranks, first_part);
    divide(vertices.first(half), ranks.first(first_part));
    divide(vertices.subspan(half), ranks.subspan(first_part));
  }

  const TrafficGraph& graph_;
  const Network& network_;
  std::vector<std::int32_t> room_;  ///< [nodes and switches] ranks that fit there or below
  std::vector<std::int32_t> node_of_;
};

}  // namespace

Cost cost_of(const TrafficGraph& graph, const Network& network, std::span<const std::int32_t> node_of) {
  Cost cost;
  for (std::int32_t a = 0; a < graph.ranks(); ++a) {
    for (const TrafficGraph::Neighbour& b : graph.of(a)) {
      if (b.rank < a) continue;
      const std::int32_t links =
          network.links(node_of[static_cast<std::size_t>(a)], node_of[static_cast<std::size_t>(b.rank)]);
      if (links > 0) cost.off_node += b.bytes;
      cost.link_bytes += b.bytes * links;
    }
  }
  return cost;
}

Placement place(const TrafficGraph& graph, const Network& network, std::span<const std::int32_t> node_of) {
  if (node_of.size() != static_cast<std::size_t>(graph.ranks()))
    throw std::invalid_argument("the present placement and the graph have different numbers of ranks");
  std::vector<std::int32_t> room(static_cast<std::size_t>(network.nodes()), 0);
  for (const std::int32_t node : node_of) {
    if (node < 0 || node >= network.nodes())
      throw std::invalid_argument("a rank is on a node that the network does not have");
    ++room[static_cast<std::size_t>(node)];
  }
  Placement placed;
  placed.before = cost_of(graph, network, node_of);
  placed.node_of = Division(graph, network, std::move(room)).take();
  placed.after = cost_of(graph, network, placed.node_of);
  if (placed.after.link_bytes >= placed.before.link_bytes) {
    placed.node_of.assign(node_of.begin(), node_of.end());
    placed.after = placed.before;
  }
  return placed;
}

}  // namespace effort::placement
