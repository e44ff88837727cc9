#include "tools/communication/record.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "analytics/communication/clocks.hpp"
#include "tools/communication/thread_calls.hpp"

namespace effort::tools {

using communication::Operation;

namespace {

/// Combines the parts of collectives.
class Collectives {
 public:
  Collectives(const Trace& trace, communication::Record& record) : trace_(trace), record_(record) {
    for (const TraceCommunicator& communicator : trace.communicators) places_.push_back(places_in(communicator));
  }

  void run(std::vector<CollectivePart> parts) {
    std::stable_sort(parts.begin(), parts.end(), [&](const CollectivePart& a, const CollectivePart& b) {
      return std::tuple(group(a), a.step, a.rank, a.order_ns) < std::tuple(group(b), b.step, b.rank, b.order_ns);
    });
    number(parts);
    std::sort(numbered_.begin(), numbered_.end());
    for (std::size_t i = 0; i < numbered_.size();) {
      std::size_t end = i + 1;
      while (end < numbered_.size() && numbered_[i].same_collective(numbered_[end])) ++end;
      add(parts, i, end);
      i = end;
    }
    std::stable_sort(record_.collectives.begin(), record_.collectives.end(),
                     [&](const auto& a, const auto& b) { return begin_ns(a) < begin_ns(b); });
  }

  std::uint64_t contradictions() const { return contradictions_; }

 private:
  struct Place {
    std::int32_t rank;
    std::uint8_t group;
    std::size_t position;
  };
  /// A part, by its collective and its place in it.
  struct Numbered {
    std::pair<std::uint32_t, std::int32_t> group;
    std::int64_t step;
    std::size_t ordinal;
    std::size_t position;
    std::size_t part;
    bool operator<(const Numbered& other) const {
      return std::tie(group, step, ordinal, position, part) <
             std::tie(other.group, other.step, other.ordinal, other.position, other.part);
    }
    bool same_collective(const Numbered& other) const {
      return group == other.group && step == other.step && ordinal == other.ordinal;
    }
  };

  static std::vector<Place> places_in(const TraceCommunicator& communicator) {
    std::vector<Place> out;
    for (const std::int32_t rank : communicator.members) out.push_back({rank, 0, out.size()});
    for (const std::int32_t rank : communicator.remote) out.push_back({rank, 1, out.size()});
    std::sort(out.begin(), out.end(), [](const Place& a, const Place& b) { return a.rank < b.rank; });
    return out;
  }

  const Place* place(const CollectivePart& part) const {
    if (part.communicator >= places_.size()) return nullptr;
    const std::vector<Place>& places = places_[part.communicator];
    const auto at = std::lower_bound(places.begin(), places.end(), part.rank,
                                     [](const Place& p, std::int32_t rank) { return p.rank < rank; });
    return at != places.end() && at->rank == part.rank ? &*at : nullptr;
  }

  /// MPI_COMM_SELF, and a communicator with unknown members, count as a separate one on each rank.
  std::pair<std::uint32_t, std::int32_t> group(const CollectivePart& part) const {
    const bool known = part.communicator < places_.size() && !places_[part.communicator].empty();
    return {part.communicator, known ? -1 : part.rank};
  }

  void number(const std::vector<CollectivePart>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Place* const at = place(parts[i]);
      Numbered n{group(parts[i]), parts[i].step, 0, at == nullptr ? ~std::size_t{0} : at->position, i};
      if (i > 0 && parts[i].rank == parts[i - 1].rank && n.group == numbered_.back().group &&
          n.step == numbered_.back().step)
        n.ordinal = numbered_.back().ordinal + 1;
      numbered_.push_back(n);
    }
  }

  void add(const std::vector<CollectivePart>& parts, std::size_t first, std::size_t end) {
    const CollectivePart& some = parts[numbered_[first].part];
    communication::Collective out{some.operation, some.communicator, -1, record_.participations.size(), 0};
    bool sparse = false;
    std::int64_t latest = INT64_MIN, earliest_end = INT64_MAX;
    for (std::size_t i = first; i < end; ++i) {
      const CollectivePart& part = parts[numbered_[i].part];
      const Place* const at = place(part);
      record_.participations.push_back(
          {part.rank, part.start, part.done, part.sent, part.received, at == nullptr ? std::uint8_t{0} : at->group});
      if (part.operation != out.operation) out.operation = Operation::other;
      out.root = std::max(out.root, part.root);
      sparse = sparse || part.sparse;
      latest = std::max(latest, part.order_ns);
      if (part.done != communication::none) earliest_end = std::min(earliest_end, record_.calls[part.done].end_ns);
    }
    out.end = record_.participations.size();
    if (out.operation == Operation::other) ++contradictions_;
    if (sparse && out.operation == Operation::nxn && latest > earliest_end) out.operation = Operation::neighbour;
    if (numbered_[first].group.second < 0) {
      const TraceCommunicator& communicator = trace_.communicators[some.communicator];
      out.complete = end - first == places_[some.communicator].size();
      out.inter = !communicator.remote.empty();
    }
    record_.collectives.push_back(out);
  }

  std::int64_t begin_ns(const communication::Collective& collective) const {
    std::int64_t out = INT64_MAX;
    for (std::size_t i = collective.first; i < collective.end; ++i) {
      const communication::Participation& p = record_.participations[i];
      const std::uint32_t call = p.start == communication::none ? p.done : p.start;
      if (call != communication::none) out = std::min(out, record_.calls[call].begin_ns);
    }
    return out;
  }

  const Trace& trace_;
  communication::Record& record_;
  std::vector<std::vector<Place>> places_;  ///< [communicators], by rank
  std::vector<Numbered> numbered_;
  std::uint64_t contradictions_ = 0;
};

/// A region that names the regions around it is shown with them.
std::string full_name(const Trace& trace, std::size_t region) {
  std::string out = trace.regions[region].name;
  constexpr int deepest = 256;  // in a damaged file, the names may form a cycle
  std::int64_t at = trace.regions[region].parent;
  for (int depth = 0; at >= 0 && depth < deepest; ++depth) {
    out = trace.regions[static_cast<std::size_t>(at)].name + "/" + out;
    at = trace.regions[static_cast<std::size_t>(at)].parent;
  }
  return out;
}

void note_shift(const communication::ClockShift& shift, std::vector<std::string>& notes) {
  if (shift.largest_ns == 0) return;
  notes.push_back("the ranks' clocks contradict each other by up to " + std::to_string(shift.violation_ns) +
                  " ns: they were shifted by up to " + std::to_string(shift.largest_ns) +
                  " ns, to bring messages and collectives into a possible order");
}

void note_contradictions(std::uint64_t contradictions, std::vector<std::string>& notes) {
  if (contradictions == 0) return;
  notes.push_back("of " + count_text(contradictions, "collective") +
                  " the ranks' calls contradict each other, because some of their records are missing: no wait is "
                  "counted there");
}

}  // namespace

CommunicationTrace communication_of(const Trace& trace, const TraceMessages& messages) {
  CommunicationTrace out;
  communication::Record& record = out.record;
  out.notes = trace.notes;
  record.n_ranks = trace.n_ranks;
  for (std::int32_t rank = 0; rank < trace.n_ranks; ++rank) record.node_of.push_back(trace.node(rank));
  for (std::size_t r = 0; r < trace.regions.size(); ++r) {
    record.regions.push_back(full_name(trace, r));
    out.short_names.push_back(trace.regions[r].short_name.empty() ? trace.regions[r].name
                                                                  : trace.regions[r].short_name);
  }
  for (const TraceWindow& w : trace.windows)
    record.spans.push_back({w.first_step, w.last_step, w.start_ns, w.end_ns, 0});
  for (const TraceThread& thread : trace.threads)
    for (const TraceSpan& span : thread.spans)
      if (span.rebuilt)
        record.spans[span.window].stamp_error_ns =
            std::max(record.spans[span.window].stamp_error_ns, span.rebuilt->error90_ns);
  record.messages.reserve(messages.matched.size());
  for (const TraceMessage& m : messages.matched) {
    communication::Message message;
    message.sender = m.sender;
    message.receiver = m.receiver;
    message.tag = m.tag;
    message.communicator = m.communicator;
    message.bytes = m.bytes;
    record.messages.push_back(message);
  }
  std::vector<CollectivePart> parts;
  ThreadCalls calls(trace, messages, record, parts);
  for (std::size_t t = 0; t < trace.threads.size(); ++t) calls.append(t);
  for (std::size_t r = out.short_names.size(); r < record.regions.size(); ++r)
    out.short_names.push_back(record.regions[r]);
  Collectives collectives(trace, record);
  collectives.run(std::move(parts));
  note_contradictions(collectives.contradictions(), out.notes);
  record.clock_error_ns = std::max<std::int64_t>(trace.clock_bound_ns, 0) + 2 * std::int64_t{trace.bound.absolute_ns};
  record.stamp_error = trace.bound.relative_ppm / 1e6;
  if (trace.is_otf2) {
    const communication::ClockShift shift = communication::align_clocks(record);
    record.clock_error_ns += shift.error_ns;
    note_shift(shift, out.notes);
  }
  record.unmatched_sends = messages.unmatched_sends;
  record.unmatched_receives = messages.unmatched_receives;
  return out;
}

}  // namespace effort::tools
