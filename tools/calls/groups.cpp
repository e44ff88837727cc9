// Calls of single ranks and threads, and by caller and callee.
#include <algorithm>

#include "tools/calls/analysis.hpp"

namespace effort::tools {

std::map<CallEdge, std::uint64_t> call_edges(std::span<const calls::ContextTree::Node> nodes) {
  std::map<CallEdge, std::uint64_t> edges;
  for (const calls::ContextTree::Node& n : nodes)
    if (n.parent != 0 && n.calls > 0) edges[{nodes[n.parent].function, n.function}] += n.calls;
  return edges;
}

std::vector<std::pair<CallEdge, std::uint64_t>> frequent_edges(std::span<const calls::ContextTree::Node> nodes) {
  const auto by_pair = call_edges(nodes);
  std::vector<std::pair<CallEdge, std::uint64_t>> out(by_pair.begin(), by_pair.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

CallCounts count_calls_by(const CallInput& input, std::optional<std::int64_t> rank, Grouping by,
                          std::vector<StreamGroup>& groups) {
  if (by == Grouping::none) return count_calls(input, rank);
  std::vector<calls::ContextTree::Node> before;  // with the calls of all groups so far
  StreamGroup group;
  return count_calls(input, rank, [&](const CallCounts& counts) {
    const std::size_t next = counts.totals.size();
    const std::size_t stream = counts.streams[next - 1];
    group.streams.push_back(stream);
    group.calls += counts.totals.back().calls;
    if (by == Grouping::rank && next < counts.streams.size() &&
        input.input_of(counts.streams[next]) == input.input_of(stream) &&
        rank_of(input, counts.streams[next]) == rank_of(input, stream))
      return;
    const std::vector<calls::ContextTree::Node>& all = counts.tree.nodes();
    std::vector<calls::ContextTree::Node> own = all;
    for (std::size_t i = 0; i < before.size(); ++i) {
      own[i].calls -= before[i].calls;
      own[i].timed_calls -= before[i].timed_calls;
      own[i].timed_ns -= before[i].timed_ns;
    }
    group.functions = CallCounts::functions_of(own, counts.timed);
    group.edges = frequent_edges(own);
    groups.push_back(std::move(group));
    group = {};
    before = all;
  });
}

}  // namespace effort::tools
