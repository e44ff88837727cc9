// The assignment of the run's ranks to nodes.
#pragma once

#include "analytics/comm/communicator.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::window {

/// The reason to refuse a node's ranks, which must be in 0 .. n_ranks - 1 and ascend; empty if they are good.
std::string ranks_error(std::span<const int> ranks, int n_ranks);

struct Layout {
  std::vector<int> ranks;  ///< global ids of this node's ranks, ascending
  Gathered<int> all;       ///< ids of all nodes' ranks, node by node
  int n_ranks = 0;         ///< of the run

  bool is(std::span<const int> here, int n) const {
    return std::equal(ranks.begin(), ranks.end(), here.begin(), here.end()) && n_ranks == n;
  }
  /// Learns the ranks of all nodes.  Collective; blocks.
  /// @return false on all nodes if the nodes' ranks do not make up the run (layout_error)
  bool learn(Communicator& nodes, std::span<const int> here, int n);
  /// The values of all ranks, [n_ranks], from those of each node's own ranks, [ranks].  Collective; blocks.
  template <typename T>
  std::vector<T> gather(Communicator& nodes, const std::vector<T>& mine) const {
    const Gathered<T> gathered = nodes.allgatherv(std::span<const T>(mine));
    std::vector<T> out(static_cast<std::size_t>(n_ranks));
    for (std::size_t i = 0; i < gathered.values.size(); ++i)
      out[static_cast<std::size_t>(all.values[i])] = gathered.values[i];
    return out;
  }
  std::size_t bytes() const {
    return (ranks.size() + all.values.size()) * sizeof(int) + all.offsets.size() * sizeof(std::size_t);
  }
};

inline constexpr const char* layout_error =
    "the nodes' ranks are not those of the run: list every rank on exactly one node";

}  // namespace effort::window
