#include "analytics/placement/inside.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "analytics/placement/network.hpp"
#include "analytics/placement/placement.hpp"

namespace effort::placement {
namespace {

/// [nodes] the ranks of each node, ascending.
std::vector<std::vector<std::int32_t>> members_of(std::span<const std::int32_t> node_of) {
  std::vector<std::vector<std::int32_t>> out;
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    const auto node = static_cast<std::size_t>(node_of[rank]);
    if (node >= out.size()) out.resize(node + 1);
    out[node].push_back(static_cast<std::int32_t>(rank));
  }
  return out;
}

/// A node as a tree of its parts.  Its leaves are the parts of the last level but one, which hold cores; a node of one
/// level has its domains, each a core, as leaves.
Network tree_of(const std::vector<std::int32_t>& levels) {
  std::vector<std::int32_t> count{1};  // parts at each depth, from the whole node
  for (const std::int32_t parts : levels) count.push_back(count.back() * parts);
  if (levels.size() > 1) count.pop_back();
  const std::int32_t leaves = count.back();
  // Leaves come first, then the levels above them; the root is last.
  std::vector<std::int32_t> first(count.size());
  first.back() = 0;
  std::int32_t next = leaves;
  for (std::size_t depth = count.size() - 1; depth-- > 0;) {
    first[depth] = next;
    next += count[depth];
  }
  std::vector<std::int32_t> parent(static_cast<std::size_t>(next), -1);
  for (std::size_t depth = 1; depth < count.size(); ++depth)
    for (std::int32_t i = 0; i < count[depth]; ++i)
      parent[static_cast<std::size_t>(first[depth]) + static_cast<std::size_t>(i)] =
          first[depth - 1] + i / (count[depth] / count[depth - 1]);
  return {leaves, std::move(parent)};
}

/// The traffic among some ranks, numbered by their places in `members`.
TrafficGraph part_of(const TrafficGraph& graph, const std::vector<std::int32_t>& members) {
  std::vector<Exchange> exchanges;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (const TrafficGraph::Neighbour& b : graph.of(members[i])) {
      if (b.rank < members[i]) continue;
      const auto at = std::lower_bound(members.begin(), members.end(), b.rank);
      if (at == members.end() || *at != b.rank) continue;
      exchanges.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(at - members.begin()), b.bytes});
    }
  }
  return {static_cast<std::int32_t>(members.size()), exchanges};
}

}  // namespace

NodeShape::NodeShape(std::vector<std::int32_t> levels, std::size_t domain_levels) : levels_(std::move(levels)) {
  if (levels_.empty()) throw std::invalid_argument("the shape of the node has no levels: give at least one");
  for (const std::int32_t parts : levels_) {
    if (parts < 1) throw std::invalid_argument("a level of the node has no parts: give each level at least one");
    if (parts > most_cores / cores_)
      throw std::invalid_argument("a node has more than " + std::to_string(most_cores) + " cores");
    cores_ *= parts;
  }
  if (domain_levels == 0 || domain_levels > levels_.size())
    throw std::invalid_argument("NUMA domains must span between one and all levels of the node");
  for (std::size_t level = 0; level < domain_levels; ++level) domains_ *= levels_[level];
}

std::vector<std::int32_t> cores_in_order(std::span<const std::int32_t> node_of) {
  std::vector<std::int32_t> out(node_of.size());
  for (const std::vector<std::int32_t>& members : members_of(node_of))
    for (std::size_t i = 0; i < members.size(); ++i)
      out[static_cast<std::size_t>(members[i])] = static_cast<std::int32_t>(i);
  return out;
}

double off_domain(const TrafficGraph& graph, const NodeShape& shape, std::span<const std::int32_t> node_of,
                  std::span<const std::int32_t> core_of) {
  double out = 0;
  for (std::int32_t a = 0; a < graph.ranks(); ++a) {
    const auto i = static_cast<std::size_t>(a);
    for (const TrafficGraph::Neighbour& b : graph.of(a)) {
      const auto k = static_cast<std::size_t>(b.rank);
      if (b.rank < a) continue;
      if (node_of[i] != node_of[k] || shape.domain_of(core_of[i]) != shape.domain_of(core_of[k])) out += b.bytes;
    }
  }
  return out;
}

std::vector<std::int32_t> place_inside(const TrafficGraph& graph, const NodeShape& shape,
                                       std::span<const std::int32_t> node_of) {
  if (node_of.size() != static_cast<std::size_t>(graph.ranks()))
    throw std::invalid_argument("the placement and the graph have different numbers of ranks");
  const Network tree = tree_of(shape.levels());
  const std::int32_t cores_of_leaf = shape.cores() / tree.nodes();
  std::vector<std::int32_t> out(node_of.size(), 0);
  for (const std::vector<std::int32_t>& members : members_of(node_of)) {
    if (members.size() > static_cast<std::size_t>(shape.cores()))
      throw std::invalid_argument("a node has " + std::to_string(members.size()) + " ranks, but only " +
                                  std::to_string(shape.cores()) + " cores");
    std::vector<std::int32_t> leaf_of(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) leaf_of[i] = static_cast<std::int32_t>(i) / cores_of_leaf;
    std::vector<std::int32_t> next(static_cast<std::size_t>(tree.nodes()));
    for (std::size_t leaf = 0; leaf < next.size(); ++leaf) next[leaf] = static_cast<std::int32_t>(leaf) * cores_of_leaf;
    const Placement placed = place(part_of(graph, members), tree, leaf_of);
    for (std::size_t i = 0; i < members.size(); ++i)
      out[static_cast<std::size_t>(members[i])] = next[static_cast<std::size_t>(placed.node_of[i])]++;
  }
  return out;
}

}  // namespace effort::placement
