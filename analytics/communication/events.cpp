#include "analytics/communication/events.hpp"

#include <algorithm>

#include "analytics/communication/call_names.hpp"

namespace effort::communication {

namespace {

/// The facts about each call that the grouping needs.
class Calls {
 public:
  explicit Calls(const Record& record)
      : record_(record), location_(record.calls.size(), none), context_(record.calls.size(), none) {
    for (std::size_t l = 0; l < record.locations.size(); ++l) {
      const Location& location = record.locations[l];
      if (location.rank < 0 || location.rank >= record.n_ranks) continue;
      const std::size_t end = std::min(location.end_call, record.calls.size());
      for (std::size_t c = location.first_call; c < end; ++c) location_[c] = static_cast<std::uint32_t>(l);
    }
    for (std::size_t c = 0; c < record.calls.size(); ++c) {
      const std::uint32_t parent = record.calls[c].parent;
      if (parent >= c) continue;
      context_[c] = record.calls[parent].operation == Operation::user ? parent : context_[parent];
    }
  }

  bool usable(std::uint32_t call) const { return call < location_.size() && location_[call] != none; }
  std::uint32_t location(std::uint32_t call) const { return location_[call]; }
  std::int32_t rank(std::uint32_t call) const { return record_.locations[location_[call]].rank; }
  std::uint32_t context(std::uint32_t call) const { return context_[call]; }

  /// The innermost function around both calls.
  std::uint32_t around(std::uint32_t a, std::uint32_t b) const {
    a = context_[a], b = context_[b];
    while (a != b) {
      std::uint32_t& inner = b == none || (a != none && a > b) ? a : b;
      inner = context_[inner];
    }
    return a;
  }

 private:
  const Record& record_;
  std::vector<std::uint32_t> location_, context_;
};

/// All events, in no particular order.
class Collector {
 public:
  Collector(const Record& record, const Calls& calls)
      : record_(record), calls_(calls), collectives_(collective_numbers(record)) {
    for (std::size_t m = 0; m < record.messages.size(); ++m) add_message(static_cast<std::uint32_t>(m));
    for (std::size_t c = 0; c < record.collectives.size(); ++c) add_collective(static_cast<std::uint32_t>(c));
  }

  std::vector<Event> events;
  std::uint64_t left_out = 0;

 private:
  void add(Event event) {
    event.rank = calls_.rank(event.start);
    event.context = calls_.context(event.start);
    if (event.done >= record_.calls.size()) event.done = none;
    if (event.kind == Event::Kind::collective) {
      const std::uint32_t region = record_.calls[event.start].region;
      event.collective = region < collectives_.size() ? collectives_[region] : none;
    }
    events.push_back(event);
  }

  void add_message(std::uint32_t index) {
    const Message& m = record_.messages[index];
    if (!calls_.usable(m.send_start) || !calls_.usable(m.receive_start)) {
      left_out += 2;
      return;
    }
    const std::int32_t sender = calls_.rank(m.send_start), receiver = calls_.rank(m.receive_start);
    add({Event::Kind::send, sender, receiver, none, index, m.send_start, m.send_done, none, m.bytes});
    add({Event::Kind::receive, receiver, sender, none, index, m.receive_start, m.receive_done, none, 0});
  }

  void add_collective(std::uint32_t index) {
    const Collective& c = record_.collectives[index];
    const std::size_t end = std::min(c.end, record_.participations.size());
    for (std::size_t p = c.first; p < end; ++p) {
      const Participation& part = record_.participations[p];
      if (calls_.usable(part.start)) {
        add({Event::Kind::collective, part.rank, c.root, none, index, part.start, part.done, none, part.sent});
      } else {
        ++left_out;
      }
    }
  }

  const Record& record_;
  const Calls& calls_;
  std::vector<std::uint32_t> collectives_;
};

/// Sorts events by the calls that start them, and counts them by threads.
void order(const Record& record, const Calls& calls, std::vector<Event>& events, Events& out) {
  // A counting sort by call keeps the order of messages; within a call, sends come first.
  std::vector<std::uint32_t> place(record.calls.size() + 1);
  for (const Event& e : events) ++place[e.start + 1];
  for (std::size_t c = 1; c < place.size(); ++c) place[c] += place[c - 1];
  std::vector<Event> sorted(events.size());
  for (const Event::Kind kind : {Event::Kind::send, Event::Kind::receive, Event::Kind::collective}) {
    for (const Event& e : events) {
      if (e.kind == kind) sorted[place[e.start]++] = e;
    }
  }
  out.first_of_thread = {0};
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (calls.location(sorted[i].start) != calls.location(sorted[i - 1].start)) out.first_of_thread.push_back(i);
  }
  if (!sorted.empty()) out.first_of_thread.push_back(sorted.size());
  out.events = std::move(sorted);
}

bool may_wait(Operation operation) {
  return operation == Operation::send || operation == Operation::receive || operation == Operation::send_receive ||
         operation == Operation::wait || operation == Operation::wait_all;
}

/// Decides where groups begin.
class Grouping {
 public:
  Grouping(const Record& record, const Calls& calls) : record_(record), calls_(calls) {
    for (const Span& span : record.spans) span_starts_.push_back(span.start_ns);
    std::sort(span_starts_.begin(), span_starts_.end());
  }

  /// Appends the first event of each group in [first, end), the events of one thread.
  void add(const std::vector<Event>& events, std::size_t first, std::size_t end, std::vector<std::size_t>& begins) {
    const std::uint32_t outer = calls_.around(events[first].start, events[end - 1].start);
    begins.push_back(first);
    for (std::size_t i = first + 1; i < end; ++i) {
      if (separate(events[i - 1], events[i], outer)) begins.push_back(i);
    }
  }

 private:
  bool separate(const Event& a, const Event& b, std::uint32_t outer) const {
    if (a.start == b.start) return false;
    if (a.context != b.context || span_of(a) != span_of(b)) return true;
    const bool outside = a.context == outer;
    if (outside && a.kind == Event::Kind::collective && a.start == a.done) return true;
    for (std::uint32_t c = a.start; c < b.start; ++c) {
      const Operation operation = record_.calls[c].operation;
      if (operation == Operation::wait_all || (outside && may_wait(operation))) return true;
    }
    return false;
  }
  std::ptrdiff_t span_of(const Event& e) const {
    return std::upper_bound(span_starts_.begin(), span_starts_.end(), record_.calls[e.start].begin_ns) -
           span_starts_.begin();
  }

  const Record& record_;
  const Calls& calls_;
  std::vector<std::int64_t> span_starts_;
};

}  // namespace

Events collect_events(const Record& record) {
  const Calls calls(record);
  Events out;
  {
    Collector collector(record, calls);
    out.left_out = collector.left_out;
    order(record, calls, collector.events, out);
  }
  Grouping grouping(record, calls);
  for (std::size_t t = 0; t + 1 < out.first_of_thread.size(); ++t)
    grouping.add(out.events, out.first_of_thread[t], out.first_of_thread[t + 1], out.first_of_group);
  out.first_of_group.push_back(out.events.size());
  return out;
}

std::int64_t begin_of(const Record& record, const Event& event) { return record.calls[event.start].begin_ns; }

std::int64_t end_of(const Record& record, const Event& event) {
  const std::int64_t done = event.done == none ? record.calls[event.start].end_ns : record.calls[event.done].end_ns;
  return std::max(done, record.calls[event.start].begin_ns);
}

}  // namespace effort::communication
