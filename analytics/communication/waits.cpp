#include "analytics/communication/waits.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace effort::communication {

std::string_view cause_text(Cause cause) {
  constexpr std::array<std::string_view, n_causes> texts = {"late_sender",  "late_receiver",  "barrier",   "nxn",
                                                            "early_reduce", "late_broadcast", "early_scan"};
  return texts[static_cast<std::size_t>(cause)];
}

namespace {

/// The arrival of a rank at a collective, if others depend on it.
struct Arrival {
  std::int64_t ns = INT64_MIN;
  std::uint32_t call = none;
};

class Finder {
 public:
  explicit Finder(const Record& record) : record_(record), longest_(record.calls.size()) {
    for (const Span& span : record.spans) rebuilt_ = rebuilt_ || span.stamp_error_ns > 0;
  }

  Waits run() {
    for (const Message& m : record_.messages) late_sender(m);
    for (const Message& m : record_.messages) late_receiver(m);
    for (const Collective& c : record_.collectives) collective(c);
    for (std::size_t i = 0; i < longest_.size(); ++i) {
      if (longest_[i].ns == 0) continue;
      out_.waits.push_back(longest_[i]);
      out_.waits.back().call = static_cast<std::uint32_t>(i);
    }
    return std::move(out_);
  }

 private:
  static std::int64_t duration(const Call& call) { return call.end_ns - call.begin_ns; }
  bool known(std::uint32_t call) const { return call != none && record_.calls[call].begins; }

  /// Bound on the error of the difference between the times of two calls on different ranks.
  std::int64_t error_at(const Call& call) const {
    if (!rebuilt_) return record_.clock_error_ns;
    const auto after = std::upper_bound(record_.spans.begin(), record_.spans.end(), call.begin_ns,
                                        [](std::int64_t ns, const Span& span) { return ns < span.start_ns; });
    return record_.clock_error_ns + (after == record_.spans.begin() ? 0 : 2 * (after - 1)->stamp_error_ns);
  }

  /// Records that the call waited until another one began.
  void wait(std::uint32_t call, std::uint32_t for_call, Cause cause) {
    const Call& waiting = record_.calls[call];
    const std::int64_t ns = std::min(record_.calls[for_call].begin_ns, waiting.end_ns) - waiting.begin_ns;
    Wait& longest = longest_[call];
    if (ns > longest.ns) longest = {call, for_call, ns, cause};
  }

  void late_sender(const Message& m) {
    if (m.send_start == none || m.receive_done == none) return;
    const std::int64_t reversal = record_.calls[m.send_start].begin_ns - record_.calls[m.receive_done].end_ns;
    if (reversal > 0) {
      ++out_.reversed;
      out_.largest_reversal = std::max(out_.largest_reversal, reversal);
    }
    if (!known(m.send_start)) return;
    if (m.send_start != m.receive_done) wait(m.receive_done, m.send_start, Cause::late_sender);
    const std::int64_t sent = record_.calls[m.send_start].begin_ns - error_at(record_.calls[m.send_start]);
    if (m.probe != none && sent <= record_.calls[m.probe].end_ns) wait(m.probe, m.send_start, Cause::late_sender);
  }

  void late_receiver(const Message& m) {
    if (m.send_done == none || !known(m.receive_start) || m.send_done == m.receive_start) return;
    const Call& sending = record_.calls[m.send_done];
    if (longest_[m.send_done].cause == Cause::late_sender && longest_[m.send_done].ns > 0) return;
    const Call& receiving = record_.calls[m.receive_start];
    const double inexact = record_.stamp_error * static_cast<double>(duration(sending) + duration(receiving));
    if (sending.end_ns + error_at(sending) + static_cast<std::int64_t>(inexact) <= receiving.begin_ns) return;
    wait(m.send_done, m.receive_start, Cause::late_receiver);
  }

  void collective(const Collective& c) {
    if (!is_collective(c.operation)) {
      ++out_.unknown;
      return;
    }
    if (c.operation == Operation::neighbour || (c.end - c.first < 2 && c.complete)) return;
    for (std::size_t i = c.first; i < c.end; ++i) out_.unfinished += record_.participations[i].done == none ? 1 : 0;
    switch (c.operation) {
      case Operation::barrier: everybody(c, Cause::barrier); break;
      case Operation::nxn: everybody(c, Cause::nxn); break;
      case Operation::from_root: from_root(c); break;
      case Operation::to_root: to_root(c); break;
      case Operation::scan: scan(c); break;
      default: break;
    }
  }

  Arrival arrival(const Participation& p) const {
    return known(p.start) ? Arrival{record_.calls[p.start].begin_ns, p.start} : Arrival{};
  }

  void wait(const Participation& p, const Arrival& last, Cause cause) {
    if (p.done != none && last.call != none && last.call != p.start) wait(p.done, last.call, cause);
  }

  void everybody(const Collective& c, Cause cause) {
    Arrival last[2];
    for (std::size_t i = c.first; i < c.end; ++i) {
      const Participation& p = record_.participations[i];
      // In an intercommunicator, the other group depends on the ranks of this one.
      Arrival& of = last[c.inter ? 1 - p.group : 0];
      const Arrival came = arrival(p);
      if (came.ns > of.ns) of = came;
    }
    for (std::size_t i = c.first; i < c.end; ++i) {
      const Participation& p = record_.participations[i];
      wait(p, last[c.inter ? p.group : 0], cause);
    }
    out_.lower_bounds += c.complete ? 0 : 1;
  }

  const Participation* root_of(const Collective& c) const {
    for (std::size_t i = c.first; i < c.end; ++i)
      if (record_.participations[i].rank == c.root) return &record_.participations[i];
    return nullptr;
  }

  void from_root(const Collective& c) {
    const Participation* const root = c.root < 0 ? nullptr : root_of(c);
    if (root == nullptr || !known(root->start)) {
      ++out_.unknown;
      return;
    }
    for (std::size_t i = c.first; i < c.end; ++i) {
      const Participation& p = record_.participations[i];
      if (&p != root && (!c.inter || p.group != root->group)) wait(p, arrival(*root), Cause::late_broadcast);
    }
  }

  void to_root(const Collective& c) {
    const Participation* const root = c.root < 0 ? nullptr : root_of(c);
    if (root == nullptr) {
      ++out_.unknown;
      return;
    }
    // If the record has byte counts, a rank that contributes nothing to a gather is not waited for.
    bool bytes_known = false;
    for (std::size_t i = c.first; i < c.end; ++i) bytes_known = bytes_known || record_.participations[i].sent > 0;
    Arrival last;
    for (std::size_t i = c.first; i < c.end; ++i) {
      const Participation& p = record_.participations[i];
      if (&p == root || (c.inter && p.group == root->group) || (bytes_known && p.sent == 0)) continue;
      const Arrival came = arrival(p);
      if (came.ns > last.ns) last = came;
    }
    wait(*root, last, Cause::early_reduce);
    out_.lower_bounds += c.complete ? 0 : 1;
  }

  void scan(const Collective& c) {
    Arrival last;
    for (std::size_t i = c.first; i < c.end; ++i) {
      const Participation& p = record_.participations[i];
      wait(p, last, Cause::early_scan);
      const Arrival came = arrival(p);
      if (came.ns > last.ns) last = came;
    }
    out_.lower_bounds += c.complete ? 0 : 1;
  }

  const Record& record_;
  bool rebuilt_ = false;       ///< whether some spans have the times of similar steps
  std::vector<Wait> longest_;  ///< [calls] ns 0: none
  Waits out_;
};

}  // namespace

Waits find_waits(const Record& record) { return Finder(record).run(); }

std::vector<std::uint32_t> spans_of(const Record& record, const Waits& waits,
                                    const std::vector<std::uint32_t>& location_of) {
  std::vector<std::uint32_t> out;
  out.reserve(waits.waits.size());
  const auto before = [&](const Step& step, std::pair<std::int32_t, std::int64_t> at) {
    return std::pair(step.rank, step.begin_ns) <= at;
  };
  for (const Wait& w : waits.waits) {
    const std::pair at(record.locations[location_of[w.call]].rank, record.calls[w.call].begin_ns);
    auto step = std::lower_bound(record.steps.begin(), record.steps.end(), at, before);
    const bool known = step != record.steps.begin() && (--step)->rank == at.first;
    const auto span = std::upper_bound(
        record.spans.begin(), record.spans.end(), known ? step->number : at.second,
        [&](std::int64_t place, const Span& s) { return place < (known ? s.first_step : s.start_ns); });
    const bool inside = span != record.spans.begin() &&
                        (known ? step->number <= (span - 1)->last_step : at.second <= (span - 1)->end_ns);
    out.push_back(inside ? static_cast<std::uint32_t>(span - record.spans.begin() - 1) : none);
  }
  return out;
}

WaitTotals total_waits(const Record& record, const Waits& waits, const std::vector<std::uint32_t>& location_of) {
  WaitTotals out;
  for (std::vector<std::int64_t>& by_rank : out) by_rank.assign(static_cast<std::size_t>(record.n_ranks), 0);
  for (const Wait& w : waits.waits) {
    const std::int32_t rank = record.locations[location_of[w.call]].rank;
    if (rank >= 0 && rank < record.n_ranks)
      out[static_cast<std::size_t>(w.cause)][static_cast<std::size_t>(rank)] += w.ns;
  }
  return out;
}

std::vector<PathWaits> waits_by_path(const Waits& waits, const std::vector<std::uint32_t>& path_of_call) {
  std::map<std::pair<std::uint32_t, Cause>, PathWaits> sums;
  for (const Wait& w : waits.waits) {
    PathWaits& sum = sums[{path_of_call[w.call], w.cause}];
    ++sum.count;
    sum.ns += w.ns;
  }
  std::vector<PathWaits> out;
  for (const auto& [key, sum] : sums) out.push_back({key.first, key.second, sum.count, sum.ns});
  std::stable_sort(out.begin(), out.end(), [](const PathWaits& a, const PathWaits& b) { return a.ns > b.ns; });
  return out;
}

}  // namespace effort::communication
