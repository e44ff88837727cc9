#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "analytics/placement/placement.hpp"

namespace effort::placement {
namespace {

/// A rank that may be moved, with the gain of its move when it was queued.
struct Candidate {
  double gain = 0;
  std::int32_t at = 0;
  /// The larger gain first, then the lower index, so that results do not depend on the queue.
  friend bool operator<(const Candidate& x, const Candidate& y) {
    return x.gain != y.gain ? x.gain < y.gain : x.at > y.at;
  }
};
using Queue = std::priority_queue<Candidate>;

/// The part of the graph that is divided, by the position of ranks in the list.
class Subgraph {
 public:
  Subgraph(const TrafficGraph& graph, std::span<const std::int32_t> ranks) : first_(ranks.size() + 1, 0) {
    std::vector<std::int32_t> position(static_cast<std::size_t>(graph.ranks()), -1);
    for (std::size_t i = 0; i < ranks.size(); ++i)
      position[static_cast<std::size_t>(ranks[i])] = static_cast<std::int32_t>(i);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      for (const TrafficGraph::Neighbour& n : graph.of(ranks[i])) {
        const std::int32_t at = position[static_cast<std::size_t>(n.rank)];
        if (at >= 0) neighbours_.push_back({at, n.bytes});
      }
      first_[i + 1] = neighbours_.size();
    }
  }
  std::size_t size() const { return first_.size() - 1; }
  std::span<const TrafficGraph::Neighbour> of(std::int32_t at) const {
    const auto i = static_cast<std::size_t>(at);
    return std::span(neighbours_).subspan(first_[i], first_[i + 1] - first_[i]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<TrafficGraph::Neighbour> neighbours_;
};

/// The rank that breadth-first search from `start` reaches last: a rank at the edge of the graph.
std::int32_t farthest(const Subgraph& graph, std::int32_t start) {
  std::vector<bool> seen(graph.size(), false);
  std::vector<std::int32_t> reached{start};
  seen[static_cast<std::size_t>(start)] = true;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const TrafficGraph::Neighbour& n : graph.of(reached[i])) {
      if (seen[static_cast<std::size_t>(n.rank)]) continue;
      seen[static_cast<std::size_t>(n.rank)] = true;
      reached.push_back(n.rank);
    }
  }
  return reached.back();
}

class TwoParts {
 public:
  explicit TwoParts(const Subgraph& graph) : graph_(graph), first_(graph.size(), false), gain_(graph.size(), 0.0) {}

  const std::vector<bool>& first() const { return first_; }
  double cut() const { return cut_; }

  /// Makes the first part of `size` ranks, beginning with `start`.
  void grow(std::int32_t start, std::size_t size) {
    std::vector<double> bound(graph_.size(), 0);  // bytes exchanged with the part
    Queue queue;
    queue.push({0, start});
    std::int32_t unreached = 0;
    for (std::size_t taken = 0; taken < size;) {
      if (queue.empty()) {
        while (first_[static_cast<std::size_t>(unreached)]) ++unreached;
        queue.push({bound[static_cast<std::size_t>(unreached)], unreached});
      }
      const Candidate next = queue.top();
      queue.pop();
      const auto at = static_cast<std::size_t>(next.at);
      if (first_[at] || next.gain != bound[at]) continue;
      first_[at] = true;
      ++taken;
      for (const TrafficGraph::Neighbour& n : graph_.of(next.at)) {
        if (first_[static_cast<std::size_t>(n.rank)]) continue;
        bound[static_cast<std::size_t>(n.rank)] += n.bytes;
        queue.push({bound[static_cast<std::size_t>(n.rank)], n.rank});
      }
    }
    count();
  }

  /// One pass of moves that alternate between the parts; false if none of its states was better.
  bool pass() {
    std::vector<bool> moved(graph_.size(), false);
    Queue queues[2];  // candidates of the second and the first part
    for (std::size_t at = 0; at < graph_.size(); ++at)
      queues[first_[at] ? 1 : 0].push({gain_[at], static_cast<std::int32_t>(at)});
    std::vector<std::int32_t> moves;
    double now = cut_, best = cut_;
    std::size_t best_moves = 0;
    // Moves far beyond the best state rarely lead to a better one.
    const std::size_t patience = std::max<std::size_t>(100, graph_.size() / 10);
    while (moves.size() < best_moves + 2 * patience) {
      bool both = true;
      for (const int part : {1, 0}) {
        const std::int32_t at = next(queues[part], moved, part == 1);
        if (at < 0) {
          both = false;
          break;
        }
        now -= gain_[static_cast<std::size_t>(at)];
        moved[static_cast<std::size_t>(at)] = true;
        flip(at, &moved, queues);
        moves.push_back(at);
      }
      if (!both) break;
      if (now < best * (1 - 1e-12)) {
        best = now;
        best_moves = moves.size();
      }
    }
    for (std::size_t i = moves.size(); i > best_moves; --i) flip(moves[i - 1], nullptr, nullptr);
    cut_ = best;
    return best_moves > 0;
  }

 private:
  /// The unmoved rank of a part whose move gains the most; -1 none.
  std::int32_t next(Queue& queue, const std::vector<bool>& moved, bool of_first) const {
    while (!queue.empty()) {
      const Candidate top = queue.top();
      queue.pop();
      const auto at = static_cast<std::size_t>(top.at);
      if (!moved[at] && first_[at] == of_first && top.gain == gain_[at]) return top.at;
    }
    return -1;
  }

  void flip(std::int32_t at, const std::vector<bool>* moved, Queue* queues) {
    const auto i = static_cast<std::size_t>(at);
    first_[i] = !first_[i];
    gain_[i] = -gain_[i];
    for (const TrafficGraph::Neighbour& n : graph_.of(at)) {
      const auto j = static_cast<std::size_t>(n.rank);
      gain_[j] += first_[i] == first_[j] ? -2 * n.bytes : 2 * n.bytes;
      if (queues && !(*moved)[j]) queues[first_[j] ? 1 : 0].push({gain_[j], n.rank});
    }
  }

  void count() {
    cut_ = 0;
    for (std::size_t at = 0; at < graph_.size(); ++at) {
      gain_[at] = 0;
      for (const TrafficGraph::Neighbour& n : graph_.of(static_cast<std::int32_t>(at))) {
        const bool same = first_[at] == first_[static_cast<std::size_t>(n.rank)];
        gain_[at] += same ? -n.bytes : n.bytes;
        if (!same && static_cast<std::size_t>(n.rank) > at) cut_ += n.bytes;
      }
    }
  }

  const Subgraph& graph_;
  std::vector<bool> first_;   ///< whether a rank is in the first part
  std::vector<double> gain_;  ///< bytes by which the cut shrinks if a rank changes sides
  double cut_ = 0;            ///< bytes between the parts
};

/// Two ends of the graph as seen from each of two ranks.
constexpr std::size_t starts = 4;

}  // namespace

void bisect(const TrafficGraph& graph, std::span<std::int32_t> ranks, std::size_t first_part) {
  const Subgraph part(graph, ranks);
  std::vector<bool> best;
  double best_cut = 0;
  std::int32_t start = 0;
  for (std::size_t i = 0; i < starts; ++i) {
    if (i == starts / 2) start = static_cast<std::int32_t>(part.size() / 2);
    start = farthest(part, start);
    TwoParts parts(part);
    parts.grow(start, first_part);
    while (parts.pass()) {
    }
    if (best.empty() || parts.cut() < best_cut) {
      best = parts.first();
      best_cut = parts.cut();
    }
  }
  std::vector<std::int32_t> ordered;
  ordered.reserve(ranks.size());
  for (const bool wanted : {true, false})
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (best[i] == wanted) ordered.push_back(ranks[i]);
  std::copy(ordered.begin(), ordered.end(), ranks.begin());
}

}  // namespace effort::placement
