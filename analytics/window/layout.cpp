#include "analytics/window/layout.hpp"

namespace effort::window {

std::string ranks_error(std::span<const int> ranks, int n_ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] < 0 || ranks[i] >= n_ranks || (i > 0 && ranks[i] <= ranks[i - 1]))
      return "rank " + std::to_string(ranks[i]) +
             " is out of range or not in ascending order: list a node's ranks ascending";
  return {};
}

bool Layout::learn(Communicator& nodes, std::span<const int> here, int n) {
  ranks.assign(here.begin(), here.end());
  all = nodes.allgatherv(std::span<const int>(ranks));
  n_ranks = n;
  std::vector<char> seen(static_cast<std::size_t>(n_ranks), 0);
  if (all.values.size() != seen.size()) return false;
  for (int rank : all.values) {
    if (rank < 0 || rank >= n_ranks || seen[static_cast<std::size_t>(rank)]) return false;
    seen[static_cast<std::size_t>(rank)] = 1;
  }
  return true;
}

}  // namespace effort::window
