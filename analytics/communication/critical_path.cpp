#include "analytics/communication/critical_path.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace effort::communication {

namespace {

/// A part of the run without a gap.
struct Stretch {
  std::int64_t start_ns, end_ns;
};

std::vector<Stretch> stretches_of(const Record& record, const std::vector<bool>& chosen) {
  std::vector<Stretch> out;
  const auto wanted = [&](std::size_t i) { return chosen.empty() || chosen[i]; };
  for (std::size_t i = 0; i < record.spans.size(); ++i) {
    const Span& span = record.spans[i];
    if (!wanted(i)) continue;
    if (i > 0 && wanted(i - 1) && span.first_step <= record.spans[i - 1].last_step + 1) {
      out.back().end_ns = std::max(out.back().end_ns, span.end_ns);
    } else {
      out.push_back({span.start_ns, span.end_ns});
    }
  }
  if (record.spans.empty()) return {{INT64_MIN, INT64_MAX}};
  // Calls may extend beyond the ends of windows, because each node sees these by its own clock.
  if (wanted(0)) out.front().start_ns = INT64_MIN;
  if (wanted(record.spans.size() - 1)) out.back().end_ns = INT64_MAX;
  return out;
}

class Replay {
 public:
  Replay(const Record& record, const CallTree& tree, const Waits& waits, const Timeline& timeline,
         const std::vector<bool>& chosen)
      : record_(record),
        tree_(tree),
        waits_(waits),
        timeline_(timeline),
        stretches_(stretches_of(record, chosen)),
        times_(tree.paths.size()) {}

  CriticalPath run() {
    for (const Stretch& stretch : stretches_) follow(stretch);
    CriticalPath out;
    for (const auto& [key, ns] : sums_) {
      const std::uint32_t path = key.second == tree_.paths.size() ? none : key.second;
      out.activities.push_back({key.first, path, ns});
      out.ns += ns;
    }
    std::stable_sort(out.activities.begin(), out.activities.end(),
                     [](const CriticalActivity& a, const CriticalActivity& b) { return a.ns > b.ns; });
    out.imbalance_ns = imbalance();
    return out;
  }

 private:
  /// The end of a location's last call that begins in the stretch; INT64_MIN if there is none.
  std::int64_t last_end(std::size_t l, const Stretch& stretch) const {
    if (timeline_.first_segment(l) == timeline_.end_segment(l)) return INT64_MIN;
    std::size_t s = timeline_.segment_at(l, stretch.end_ns);
    std::int64_t end = std::min(timeline_.segment(s).begin_ns, stretch.end_ns);
    if (timeline_.segment(s).call != none)
      end = std::min(stretch.end_ns, record_.calls[timeline_.segment(s).call].end_ns);
    return end > stretch.start_ns ? end : INT64_MIN;
  }

  void follow(const Stretch& stretch) {
    std::size_t location = record_.locations.size();
    std::int64_t now = INT64_MIN;
    for (std::size_t l = 0; l < record_.locations.size(); ++l) {
      const std::int64_t end = last_end(l, stretch);
      if (end > now) now = end, location = l;
    }
    if (location == record_.locations.size()) return;
    std::set<std::size_t> seen;  // locations at exactly this time
    for (;;) {
      seen.insert(location);
      std::size_t w = timeline_.waits_until(location, now);
      // The path has returned to a location at the same time: its waits that end now have been followed already.
      bool found = w > timeline_.first_wait(location);
      std::size_t next = location;
      while (found) {
        const Wait& wait = waits_.waits[w - 1];
        next = tree_.location_of[wait.for_call];
        if (timeline_.end_of(wait) < now || seen.count(next) == 0) break;
        found = --w > timeline_.first_wait(location);
      }
      const std::int64_t since = found ? timeline_.end_of(waits_.waits[w - 1]) : stretch.start_ns;
      if (!found || since <= stretch.start_ns) {
        take(location, stretch.start_ns, now);
        return;
      }
      take(location, since, now);
      if (since < now) seen.clear();
      now = std::min(since, record_.calls[waits_.waits[w - 1].for_call].begin_ns);
      if (now < since) seen.clear();
      location = next;
    }
  }

  void take(std::size_t location, std::int64_t from, std::int64_t to) {
    timeline_.times(location, from, to, times_);
    for (const std::uint32_t path : times_.touched) sums_[{record_.locations[location].rank, path}] += times_.ns[path];
    times_.clear();
  }

  std::int64_t imbalance() {
    std::set<std::int32_t> ranks;
    for (std::size_t l = 0; l < record_.locations.size(); ++l) {
      ranks.insert(record_.locations[l].rank);
      for (const Stretch& stretch : stretches_) timeline_.times(l, stretch.start_ns, stretch.end_ns, times_);
    }
    std::map<std::uint32_t, std::int64_t> on_path;
    for (const auto& [key, ns] : sums_) on_path[key.second] += ns;
    std::int64_t out = 0;
    for (const auto& [path, ns] : on_path) {
      const std::int64_t mean = times_.ns[path] / static_cast<std::int64_t>(ranks.size());
      out += std::max<std::int64_t>(0, ns - mean);
    }
    times_.clear();
    return out;
  }

  const Record& record_;
  const CallTree& tree_;
  const Waits& waits_;
  const Timeline& timeline_;
  std::vector<Stretch> stretches_;
  PathTimes times_;
  std::map<std::pair<std::int32_t, std::uint32_t>, std::int64_t> sums_;  ///< of ranks and indices in PathTimes::ns
};

}  // namespace

CriticalPath critical_path(const Record& record, const CallTree& tree, const Waits& waits, const Timeline& timeline,
                           const std::vector<bool>& chosen) {
  return Replay(record, tree, waits, timeline, chosen).run();
}

}  // namespace effort::communication
