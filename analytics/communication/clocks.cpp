#include "analytics/communication/clocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace effort::communication {

namespace {

constexpr std::int64_t tolerated_ns = 1000;

/// Facts about the offset of rank b minus that of rank a, a < b.
struct Bounds {
  std::int64_t low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> differences;  ///< of the times at which both left a collective that synchronizes all

  bool open() const { return low == INT64_MIN || high == INT64_MAX; }
  /// How precisely the offset is known.
  double width() const { return open() ? 1e30 : static_cast<double>(high) - static_cast<double>(low); }
  std::int64_t offset() {
    std::int64_t out = 0;
    if (!differences.empty()) {
      const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
      std::nth_element(differences.begin(), middle, differences.end());
      out = *middle;
    } else if (!open()) {
      return low / 2 + high / 2;
    }
    // Bounds that contradict each other show drift.
    if (low > high) return low / 2 + high / 2;
    return std::clamp(out, low, high);
  }
};

class Aligner {
 public:
  explicit Aligner(Record& record) : record_(record) {}

  ClockShift run() {
    for (const Message& m : record_.messages)
      if (m.send_start != none && m.receive_done != none) precedes(m.send_start, m.sender, m.receive_done, m.receiver);
    for (const Collective& c : record_.collectives) collective(c);
    ClockShift out{0, violation_, 0};
    if (violation_ <= tolerated_ns) return out;
    const std::vector<std::int64_t> offsets = offsets_of_ranks();
    out.error_ns = error_;
    for (const Location& location : record_.locations) {
      if (!valid(location.rank)) continue;
      const std::int64_t offset = offsets[static_cast<std::size_t>(location.rank)];
      out.largest_ns = std::max(out.largest_ns, std::abs(offset));
      for (std::size_t c = location.first_call; c < location.end_call; ++c)
        record_.calls[c].begin_ns += offset, record_.calls[c].end_ns += offset;
    }
    for (Step& step : record_.steps)
      if (valid(step.rank)) step.begin_ns += offsets[static_cast<std::size_t>(step.rank)];
    for (PhaseStart& phase : record_.phases)
      if (valid(phase.rank)) phase.begin_ns += offsets[static_cast<std::size_t>(phase.rank)];
    for (Span& span : record_.spans) span.start_ns -= out.largest_ns, span.end_ns += out.largest_ns;
    return out;
  }

 private:
  bool valid(std::int32_t rank) const { return rank >= 0 && rank < record_.n_ranks; }

  /// Records that a call on rank a begins before another one ends on rank b.
  void precedes(std::uint32_t first, std::int32_t a, std::uint32_t second, std::int32_t b) {
    if (a == b || !valid(a) || !valid(b) || !record_.calls[first].begins || !record_.calls[second].ends) return;
    const std::int64_t least = record_.calls[first].begin_ns - record_.calls[second].end_ns;
    violation_ = std::max(violation_, least);
    Bounds& bounds = bounds_[{std::min(a, b), std::max(a, b)}];
    if (a < b) {
      bounds.low = std::max(bounds.low, least);
    } else {
      bounds.high = std::min(bounds.high, -least);
    }
  }

  /// Pairs one rank with each of the others, which suffices.
  void collective(const Collective& c) {
    const bool all = c.operation == Operation::barrier || c.operation == Operation::nxn;
    const bool rooted = c.operation == Operation::from_root || c.operation == Operation::to_root;
    if ((!all && !rooted) || c.inter) return;
    std::size_t centre = c.first;
    if (rooted) {
      while (centre < c.end && record_.participations[centre].rank != c.root) ++centre;
      if (centre == c.end) return;
    }
    const Participation& of = record_.participations[centre];
    if (of.start == none || of.done == none) return;
    for (std::size_t i = c.first; i < c.end; ++i) {
      const Participation& p = record_.participations[i];
      if (i == centre || p.start == none || p.done == none) continue;
      if (c.operation != Operation::to_root) precedes(of.start, of.rank, p.done, p.rank);
      if (c.operation != Operation::from_root) precedes(p.start, p.rank, of.done, of.rank);
      if (!all || p.start != p.done || !valid(p.rank) || !valid(of.rank) || p.rank == of.rank) continue;
      const std::int64_t difference = record_.calls[of.done].end_ns - record_.calls[p.done].end_ns;
      const bool ascending = of.rank < p.rank;
      bounds_[{std::min(of.rank, p.rank), std::max(of.rank, p.rank)}].differences.push_back(ascending ? difference
                                                                                                      : -difference);
    }
  }

  /// Starts from the lowest rank of each connected group and follows the pairs that determine an offset best.
  std::vector<std::int64_t> offsets_of_ranks() {
    const auto n = static_cast<std::size_t>(record_.n_ranks);
    std::vector<std::vector<std::pair<std::size_t, Bounds*>>> neighbours(n);
    for (auto& [pair, bounds] : bounds_) {
      neighbours[static_cast<std::size_t>(pair.first)].emplace_back(pair.second, &bounds);
      neighbours[static_cast<std::size_t>(pair.second)].emplace_back(pair.first, &bounds);
    }
    std::vector<std::int64_t> out(n, 0);
    std::vector<bool> done(n, false);
    using Edge = std::tuple<double, std::size_t, std::size_t, Bounds*>;  // width, from, to
    std::priority_queue<Edge, std::vector<Edge>, std::greater<>> edges;
    const auto reach = [&](std::size_t rank) {
      done[rank] = true;
      for (const auto& [other, bounds] : neighbours[rank])
        if (!done[other]) edges.emplace(bounds->width(), rank, other, bounds);
    };
    for (std::size_t start = 0; start < n; ++start) {
      if (done[start]) continue;
      reach(start);
      while (!edges.empty()) {
        const auto [width, from, to, bounds] = edges.top();
        edges.pop();
        if (done[to]) continue;
        const std::int64_t offset = bounds->offset();
        if (!bounds->open()) error_ = std::max({error_, bounds->high - offset, offset - bounds->low});
        out[to] = out[from] + (from < to ? offset : -offset);
        reach(to);
      }
    }
    return out;
  }

  Record& record_;
  std::map<std::pair<std::int32_t, std::int32_t>, Bounds> bounds_;
  std::int64_t violation_ = 0, error_ = 0;
};

}  // namespace

ClockShift align_clocks(Record& record) { return Aligner(record).run(); }

}  // namespace effort::communication
