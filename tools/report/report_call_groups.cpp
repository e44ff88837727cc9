#include "tools/report/report_call_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace effort::tools {

namespace {

bool equal(const CommonTrees& trees, std::size_t source, const RankCalls& a, const RankCalls& b) {
  if (a.streams.size() != b.streams.size()) return false;
  for (std::size_t i = 0; i < a.streams.size(); ++i) {
    const calls::StreamLists &x = trees.streams[source][a.streams[i]], &y = trees.streams[source][b.streams[i]];
    if (x.items != y.items ||
        !std::equal(x.open.begin(), x.open.end(), y.open.begin(), y.open.end(),
                    [](const auto& p, const auto& q) { return p.function == q.function && p.first == q.first; }))
      return false;
  }
  return true;
}

/// Adds what a member of the nodes has grown by since `before`.  Both are by context.
void add_growth(CallColumn& column, const std::vector<calls::ContextTree::Node>& nodes,
                std::uint64_t calls::ContextTree::Node::*member, std::vector<std::uint64_t>& before) {
  before.resize(nodes.size());
  CallColumn sum;
  auto known = column.begin();
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    std::uint64_t value = nodes[i].*member - before[i];
    before[i] = nodes[i].*member;
    if (known != column.end() && known->first == i) value += (known++)->second;
    if (value > 0) sum.emplace_back(i, value);
  }
  column = std::move(sum);
}

}  // namespace

CallSource read_call_source(const std::string& path, const std::vector<std::filesystem::path>& search) {
  using Node = calls::ContextTree::Node;
  CallSource s;
  s.input = std::make_unique<CallInput>(std::vector<std::string>{path}, 0);
  s.names = function_names(*s.input, search);
  std::vector<std::uint64_t> calls, timed_calls, timed_ns;  // of the streams before
  s.counts = count_calls(*s.input, std::nullopt, [&](const CallCounts& counts) {
    const std::size_t stream = counts.streams[counts.totals.size() - 1];
    const std::int64_t rank = rank_of(*s.input, stream);
    if (s.ranks.empty() || s.ranks.back().rank != rank) s.ranks.push_back({rank, {}, {}, {}, {}});
    RankCalls& of_rank = s.ranks.back();
    of_rank.streams.push_back(stream);
    // All streams share the contexts; the calls of this one are those that were added.
    add_growth(of_rank.column, counts.tree.nodes(), &Node::calls, calls);
    if (!counts.timed) return;
    add_growth(of_rank.timed_calls, counts.tree.nodes(), &Node::timed_calls, timed_calls);
    add_growth(of_rank.timed_ns, counts.tree.nodes(), &Node::timed_ns, timed_ns);
  });
  return s;
}

void group_ranks(CallSource& s, const CommonTrees* trees, std::size_t source) {
  std::multimap<std::pair<std::size_t, std::uint64_t>, std::size_t> known;  // by number of contexts and calls
  for (std::size_t r = 0; r < s.ranks.size(); ++r) {
    const CallColumn& column = s.ranks[r].column;
    const std::pair key(column.size(),
                        std::accumulate(column.begin(), column.end(), std::uint64_t{0},
                                        [](std::uint64_t sum, const auto& c) { return sum + c.second; }));
    const auto [first, last] = known.equal_range(key);
    const auto found = std::find_if(first, last, [&](const auto& entry) {
      const RankCalls& other = s.ranks[s.groups[entry.second].members[0]];
      return other.column == column && (trees == nullptr || equal(*trees, source, other, s.ranks[r]));
    });
    if (found != last) {
      s.groups[found->second].members.push_back(r);
    } else {
      known.emplace(key, s.groups.size());
      s.groups.push_back({{r}, 0});
    }
  }
}

std::vector<CallGroupPair> call_group_pairs(const std::vector<CallSource>& sources, std::size_t most) {
  std::vector<CallGroupPair> out;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::map<std::int64_t, std::size_t> of_rank;
    for (std::size_t g = 0; g < sources[i].groups.size(); ++g)
      for (const std::size_t member : sources[i].groups[g].members) of_rank[sources[i].ranks[member].rank] = g;
    for (std::size_t j = 0; j < i; ++j) {
      std::map<std::pair<std::size_t, std::size_t>, bool> known;
      for (std::size_t g = 0; g < sources[j].groups.size(); ++g)
        for (const std::size_t member : sources[j].groups[g].members) {
          const auto same = of_rank.find(sources[j].ranks[member].rank);
          if (same != of_rank.end() && known.emplace(std::pair(g, same->second), true).second)
            out.push_back({j, g, i, same->second});
        }
    }
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::vector<CallGroup>& groups = sources[i].groups;
    const auto largest = static_cast<std::size_t>(
        std::max_element(groups.begin(), groups.end(),
                         [](const CallGroup& a, const CallGroup& b) { return a.members.size() < b.members.size(); }) -
        groups.begin());
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (g != largest) out.push_back({i, std::min(g, largest), i, std::max(g, largest)});
    for (std::size_t a = 0; a < groups.size() && out.size() < most; ++a)
      for (std::size_t b = a + 1; b < groups.size() && out.size() < most; ++b)
        if (a != largest && b != largest) out.push_back({i, a, i, b});
  }
  return out;
}

}  // namespace effort::tools
