#include "analytics/communication/delays.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace effort::communication {

namespace {

constexpr std::size_t longest_interval = 1000;      // segments
constexpr std::size_t most_synchronizations = 256;  // examined in search of the last one of two ranks

/// A moment at which a rank was synchronized with others.
struct Synchronization {
  std::int64_t end_ns = 0;  ///< on this rank
  std::int32_t peer = -1;   ///< the other rank
  std::uint32_t collective = none;
  std::uint32_t call = none;        ///< this rank's
  std::uint32_t other_call = none;  ///< the peer's
};

bool larger(const Delay& a, const Delay& b) {
  return a.ns != b.ns ? a.ns > b.ns : std::tuple(a.rank, a.path, a.before) < std::tuple(b.rank, b.path, b.before);
}

class DelayFinder {
 public:
  DelayFinder(const Record& record, const CallTree& tree, const Waits& waits, const Timeline& timeline)
      : record_(record),
        tree_(tree),
        waits_(waits),
        timeline_(timeline),
        propagated_(waits.waits.size(), 0),
        divided_(waits.waits.size(), false),
        span_of_(spans_of(record, waits, tree.location_of)),
        own_(tree.paths.size()),
        other_(tree.paths.size()),
        unexplained_(record.spans.size() + 1, 0),
        sums_(record.spans.size() + 1) {
    collect_synchronizations();
  }

  Delays run() {
    std::vector<std::uint32_t> order(waits_.waits.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    // If waits end at the same time, one may have caused the other: the call of the cause ends first.
    const auto ends = [&](std::uint32_t w) {
      return std::pair(timeline_.end_of(waits_.waits[w]), record_.calls[waits_.waits[w].call].end_ns);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return ends(a) > ends(b); });
    for (const std::uint32_t w : order) divide(w);
    Delays out;
    out.unexplained_of = unexplained_;
    out.unexplained_ns = std::accumulate(unexplained_.begin(), unexplained_.end(), 0.0);
    const auto paths = static_cast<std::uint32_t>(tree_.paths.size());
    for (std::size_t span = 0; span < sums_.size(); ++span) {
      const auto first = static_cast<std::ptrdiff_t>(out.delays.size());
      for (const auto& [key, sum] : sums_[span]) {
        // After the paths come entries for time outside of all calls, one for each path that followed it.
        const auto path = static_cast<std::uint32_t>(key);
        out.delays.push_back({static_cast<std::int32_t>(key >> 32),
                              span < record_.spans.size() ? static_cast<std::uint32_t>(span) : none,
                              path < paths ? path : none, path < paths ? none : path - paths, sum.first + sum.second,
                              sum.second});
      }
      std::sort(out.delays.begin() + first, out.delays.end(), larger);
    }
    return out;
  }

 private:
  std::int32_t rank_of(std::uint32_t call) const { return record_.locations[tree_.location_of[call]].rank; }
  std::vector<Synchronization>& of_rank(std::int32_t rank) {
    return synchronizations_[static_cast<std::size_t>(std::clamp(rank, 0, std::max(0, record_.n_ranks - 1)))];
  }

  void add(const Synchronization& s) { of_rank(rank_of(s.call)).push_back(s); }

  void collect_synchronizations() {
    synchronizations_.resize(static_cast<std::size_t>(std::max(1, record_.n_ranks)));
    std::vector<bool> collective_wait(record_.calls.size(), false);
    for (const Wait& w : waits_.waits) {
      if (w.cause > Cause::late_receiver) {
        collective_wait[w.call] = true;
        continue;
      }
      const std::int64_t here = record_.calls[w.call].end_ns, there = record_.calls[w.for_call].end_ns;
      add({here, rank_of(w.for_call), none, w.call, w.for_call});
      add({there, rank_of(w.call), none, w.for_call, w.call});
    }
    for (std::size_t c = 0; c < record_.collectives.size(); ++c) {
      const Collective& collective = record_.collectives[c];
      // A barrier or N x N collective synchronizes all ranks.  Any other collective only synchronizes the ranks that
      // waited with the rank they waited for.
      const bool all = collective.operation == Operation::barrier || collective.operation == Operation::nxn;
      bool any = false;
      for (std::size_t i = collective.first; i < collective.end && !any; ++i) {
        const std::uint32_t done = record_.participations[i].done;
        any = done != none && collective_wait[done];
      }
      if (!any) continue;
      for (std::size_t i = collective.first; i < collective.end; ++i) {
        const Participation& p = record_.participations[i];
        if (p.done == none) continue;
        if (all || collective_wait[p.done] || p.rank == collective.root)
          add({record_.calls[p.done].end_ns, -1, static_cast<std::uint32_t>(c), p.done, none});
      }
    }
    for (std::vector<Synchronization>& list : synchronizations_)
      std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.end_ns < b.end_ns; });
  }

  /// The peer's call in a collective; none if it has no part in it.
  std::uint32_t call_in(const Collective& collective, std::int32_t rank) const {
    const auto at = [&](std::size_t i) -> const Participation& { return record_.participations[i]; };
    const std::size_t guess = collective.first + static_cast<std::size_t>(std::max(0, rank));
    if (guess < collective.end && at(guess).rank == rank) return at(guess).done;
    for (std::size_t i = collective.first; i < collective.end; ++i)
      if (at(i).rank == rank) return at(i).done;
    return none;
  }

  /// When two ranks were last synchronized before these calls, on each of them.
  std::pair<std::int64_t, std::int64_t> last_synchronization(std::uint32_t call, std::uint32_t other) {
    const std::int32_t peer = rank_of(other);
    const std::int64_t begin = record_.calls[call].begin_ns, other_begin = record_.calls[other].begin_ns;
    const std::vector<Synchronization>& list = of_rank(rank_of(call));
    auto at = std::upper_bound(list.begin(), list.end(), begin,
                               [](std::int64_t time, const Synchronization& s) { return time < s.end_ns; });
    for (std::size_t looked = 0; at != list.begin() && looked < most_synchronizations; ++looked) {
      --at;
      const std::uint32_t there = at->collective == none ? (at->peer == peer ? at->other_call : none)
                                                         : call_in(record_.collectives[at->collective], peer);
      if (there == none || at->call == call) continue;
      const std::int64_t end = record_.calls[there].end_ns;
      if (end <= other_begin) return {at->end_ns, end};
    }
    return {INT64_MIN, INT64_MIN};
  }

  /// The start of the longest interval that may end at this time.
  std::int64_t limit(std::size_t location, std::int64_t end_ns) const {
    const std::size_t last = timeline_.segment_at(location, end_ns), first = timeline_.first_segment(location);
    return last > first + longest_interval ? timeline_.segment(last - longest_interval).begin_ns : INT64_MIN;
  }

  void divide(std::uint32_t w) {
    divided_[w] = true;
    const Wait& wait = waits_.waits[w];
    const std::size_t location = tree_.location_of[wait.call], late = tree_.location_of[wait.for_call];
    const std::int64_t begin = record_.calls[wait.call].begin_ns, late_begin = record_.calls[wait.for_call].begin_ns;
    auto [since, late_since] = last_synchronization(wait.call, wait.for_call);
    const std::int64_t most = std::max(limit(location, begin), limit(late, late_begin));
    since = std::max(since, most);
    late_since = std::max(late_since, most);
    late_times(late, late_since, late_begin);
    own_.clear();
    timeline_.times(location, since, begin, own_);
    double sum = late_waits_;
    for (const std::uint32_t path : other_.touched) sum += excess(path);
    const auto ns = static_cast<double>(wait.ns);
    const std::size_t span = std::min<std::size_t>(span_of_[w], record_.spans.size());
    double& unexplained = unexplained_[span];
    if (sum <= 0) {
      unexplained += ns + propagated_[w];
      return;
    }
    const double direct = std::min(ns / sum, 1.0), indirect = propagated_[w] / sum;
    unexplained += ns - direct * sum;
    for (const std::uint32_t path : other_.touched) {
      const double amount = excess(path);
      if (amount <= 0) continue;
      const std::uint32_t shown = path < tree_.paths.size() ? path : path + tree_.of_call[wait.for_call];
      auto& [own, propagated] =
          sums_[span][std::uint64_t{static_cast<std::uint32_t>(rank_of(wait.for_call))} << 32 | shown];
      own += direct * amount;
      propagated += indirect * amount;
    }
    for (std::size_t i = first_late_wait_; i < end_late_wait_; ++i) {
      const double amount = (direct + indirect) * static_cast<double>(waits_.waits[i].ns);
      divided_[i] ? unexplained += amount
                  : propagated_[i] += amount;  // divided already if clocks contradict each other
    }
  }

  double excess(std::uint32_t path) const {
    return static_cast<double>(std::max<std::int64_t>(0, other_.ns[path] - own_.ns[path]));
  }

  /// The activities of the late rank.  They are cached, because many ranks may wait for one.
  void late_times(std::size_t location, std::int64_t from_ns, std::int64_t to_ns) {
    if (location == late_location_ && from_ns == late_from_ && to_ns == late_to_) return;
    late_location_ = location;
    late_from_ = from_ns;
    late_to_ = to_ns;
    other_.clear();
    timeline_.times(location, from_ns, to_ns, other_);
    end_late_wait_ = timeline_.waits_until(location, to_ns);
    first_late_wait_ = timeline_.waits_until(location, from_ns);
    late_waits_ = 0;
    for (std::size_t i = first_late_wait_; i < end_late_wait_; ++i)
      late_waits_ += static_cast<double>(waits_.waits[i].ns);
  }

  const Record& record_;
  const CallTree& tree_;
  const Waits& waits_;
  const Timeline& timeline_;
  std::vector<std::vector<Synchronization>> synchronizations_;  ///< [ranks] by time
  std::vector<double> propagated_;                              ///< [waits] ns
  std::vector<bool> divided_;                                   ///< [waits]
  std::vector<std::uint32_t> span_of_;                          ///< [waits]
  PathTimes own_, other_;
  std::size_t late_location_ = ~std::size_t{0}, first_late_wait_ = 0, end_late_wait_ = 0;
  std::int64_t late_from_ = 0, late_to_ = 0;
  double late_waits_ = 0;
  std::vector<double> unexplained_;  ///< [spans + 1]; the last one: outside of all spans
  std::vector<std::unordered_map<std::uint64_t, std::pair<double, double>>>
      sums_;  ///< [spans + 1] by rank and path: direct, propagated
};

}  // namespace

Delays find_delays(const Record& record, const CallTree& tree, const Waits& waits, const Timeline& timeline) {
  return DelayFinder(record, tree, waits, timeline).run();
}

std::vector<Delay> delays_of(const Delays& delays, const std::vector<bool>& chosen) {
  std::map<std::tuple<std::int32_t, std::uint32_t, std::uint32_t>, Delay> sums;
  for (const Delay& d : delays.delays) {
    if (!chosen[std::min<std::size_t>(d.span, chosen.size() - 1)]) continue;
    Delay& sum =
        sums.try_emplace({d.rank, d.path, d.before}, Delay{d.rank, none, d.path, d.before, 0, 0}).first->second;
    sum.ns += d.ns;
    sum.propagated_ns += d.propagated_ns;
  }
  std::vector<Delay> out;
  for (const auto& [key, sum] : sums) out.push_back(sum);
  std::sort(out.begin(), out.end(), larger);
  return out;
}

}  // namespace effort::communication
