// The network between the nodes of a run: a tree of switches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::placement {

/// A tree whose leaves are nodes.  Messages between two nodes go up to their lowest common switch and down again.
class Network {
 public:
  static constexpr std::int32_t most_levels = 100;

  /// All nodes at one switch.
  static Network flat(std::int32_t nodes);

  /// @param parent  [nodes + switches] the switch above each node (the first `nodes` entries) and each switch, as an
  ///                index into this array; -1 at exactly one switch, the root
  /// @throws std::invalid_argument if `parent` is not a tree, a node is above another vertex, or there are
  ///         more than `most_levels` levels
  Network(std::int32_t nodes, std::vector<std::int32_t> parent);

  std::int32_t nodes() const { return nodes_; }
  /// Nodes come first, switches after them.
  std::int32_t vertices() const { return static_cast<std::int32_t>(parent_.size()); }
  std::int32_t root() const { return root_; }
  /// Nodes and switches directly below a switch, ascending; empty for a node.
  std::span<const std::int32_t> below(std::int32_t vertex) const {
    const auto v = static_cast<std::size_t>(vertex);
    return std::span(below_).subspan(first_[v], first_[v + 1] - first_[v]);
  }
  /// The same switches with some of the nodes, in the order given.
  Network of(std::span<const std::int32_t> nodes) const;
  /// Links on the way between two nodes; 0 from a node to itself.  O(height).
  std::int32_t links(std::int32_t a, std::int32_t b) const;

 private:
  std::int32_t nodes_, root_ = -1;
  std::vector<std::int32_t> parent_, depth_;
  std::vector<std::size_t> first_;
  std::vector<std::int32_t> below_;
};

}  // namespace effort::placement
