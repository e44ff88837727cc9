// Which core of its node each rank should run on, so that ranks that exchange many bytes share caches and memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analytics/placement/graph.hpp"

namespace effort::placement {

/// The equal parts of a node at each level, from the outermost: {2, 4, 8} is a node of two NUMA domains with four
/// caches of eight cores each.  Cores are numbered consecutively.
class NodeShape {
 public:
  static constexpr std::int32_t most_cores = 1 << 16;

  /// @param domain_levels  the levels, from the outermost, that make up the NUMA domains: 2 if packages consist of them
  /// @throws std::invalid_argument without a level, with a number below 1, with more than `most_cores` cores, or if
  ///         `domain_levels` is 0 or larger than the number of levels
  explicit NodeShape(std::vector<std::int32_t> levels, std::size_t domain_levels = 1);

  const std::vector<std::int32_t>& levels() const { return levels_; }
  std::int32_t cores() const { return cores_; }
  std::int32_t domain_of(std::int32_t core) const { return core / (cores_ / domains_); }

 private:
  std::vector<std::int32_t> levels_;
  std::int32_t cores_ = 1, domains_ = 1;
};

/// The cores that ranks take if those of each node fill its cores in ascending order, as launchers do.
/// @param node_of  [ranks] >= 0
/// @return [ranks] cores, from 0 on each node
std::vector<std::int32_t> cores_in_order(std::span<const std::int32_t> node_of);

/// Bytes between ranks in different domains of a node, or on different nodes, counting each pair once.
/// @param core_of  [ranks] cores of their nodes
/// O(pairs).
double off_domain(const TrafficGraph& graph, const NodeShape& shape, std::span<const std::int32_t> node_of,
                  std::span<const std::int32_t> core_of);

/// Distributes the ranks of each node over the cores that cores_in_order gives them together.  The ranks of a node are
/// divided along its levels as `place` divides those of a switch; if that does not lower the bytes times levels, they
/// stay in ascending order.  Deterministic.
/// @throws std::invalid_argument if a node has more ranks than cores, or the size of `node_of` is not that of the graph
/// Time: as `place`, for each node.
std::vector<std::int32_t> place_inside(const TrafficGraph& graph, const NodeShape& shape,
                                       std::span<const std::int32_t> node_of);

}  // namespace effort::placement
