#include "analytics/communication/follow_back.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace effort::communication {
namespace {

constexpr int most_passages = 128;
constexpr double little = 1e-4;  // share of all waiting below which another round is not worthwhile

constexpr std::size_t most_edges = std::size_t{1} << 17;

/// Keeps the longest edges; the others become one for each rank that was waited for.
void shorten(std::vector<WaitEdge>& edges, std::size_t most) {
  if (edges.size() <= most) return;
  const auto end = edges.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(edges.begin(), end, edges.end(), [](const WaitEdge& a, const WaitEdge& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : std::pair(a.waiting, a.late) < std::pair(b.waiting, b.late);
  });
  std::map<std::int32_t, double> rest;
  for (auto e = end; e != edges.end(); ++e) rest[e->late] += e->seconds;
  edges.erase(end, edges.end());
  for (const auto& [late, seconds] : rest) edges.push_back({-1, late, seconds});
}

}  // namespace

std::vector<double> follow_back(std::span<const WaitEdge> edges, std::span<const double> busy) {
  const auto at = [](std::int32_t rank) { return static_cast<std::size_t>(rank); };
  std::vector<double> caused(busy.size(), 0.0), waited(busy.size(), 0.0), coming(busy.size());
  double all = 0;
  for (const WaitEdge& e : edges) {
    if (e.waiting >= 0) waited[at(e.waiting)] += e.seconds;
    all += e.seconds;
  }
  // The share of the waiting on an edge that stays with the late rank.
  std::vector<double> share(edges.size(), 1.0), flow(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const WaitEdge& e = edges[i];
    flow[i] = e.seconds;
    if (e.waiting < 0 || e.seconds <= 0 || waited[at(e.late)] <= 0) continue;
    share[i] = std::clamp((busy[at(e.late)] - busy[at(e.waiting)]) / e.seconds, 0.0, 1.0);
  }
  for (int passage = 0; passage < most_passages; ++passage) {
    std::fill(coming.begin(), coming.end(), 0.0);
    double passed = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      caused[at(edges[i].late)] += share[i] * flow[i];
      coming[at(edges[i].late)] += (1 - share[i]) * flow[i];
      passed += (1 - share[i]) * flow[i];
    }
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const std::int32_t rank = edges[i].waiting;
      flow[i] = rank < 0 ? 0 : coming[at(rank)] * edges[i].seconds / std::max(waited[at(rank)], 1e-300);
    }
    if (passed <= little * all) break;
  }
  for (std::size_t i = 0; i < edges.size(); ++i) caused[at(edges[i].late)] += flow[i];
  return caused;
}

std::vector<double> follow_back(Communicator& nodes, std::span<const int> ranks, int n_ranks,
                                std::vector<WaitEdge> mine, std::span<const double> busy) {
  struct Busy {
    std::int64_t rank;
    double seconds;
  };
  std::vector<Busy> mine_busy;
  for (std::size_t i = 0; i < ranks.size(); ++i) mine_busy.push_back({ranks[i], busy[i]});
  shorten(mine, most_edges / static_cast<std::size_t>(nodes.size()));
  const Gathered<WaitEdge> edges = nodes.gatherv(std::span<const WaitEdge>(mine), 0);
  const Gathered<Busy> all_busy = nodes.gatherv(std::span<const Busy>(mine_busy), 0);
  std::vector<double> caused(static_cast<std::size_t>(n_ranks), 0.0);
  if (nodes.rank() == 0) {
    std::vector<double> of_rank(static_cast<std::size_t>(n_ranks), 0.0);
    for (const Busy& b : all_busy.values) of_rank[static_cast<std::size_t>(b.rank)] = b.seconds;
    caused = follow_back(edges.values, of_rank);
  }
  nodes.bcast(std::span<double>(caused), 0);
  std::vector<double> out;
  for (const int rank : ranks) out.push_back(caused[static_cast<std::size_t>(rank)]);
  return out;
}

}  // namespace effort::communication
