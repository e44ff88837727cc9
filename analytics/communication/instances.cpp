#include "analytics/communication/instances.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>
#include <unordered_map>

#include "analytics/communication/repeats.hpp"

namespace effort::communication {

namespace {

/// The piece of each event, over all threads.
struct EventPieces {
  std::vector<std::uint32_t> of_event;
  std::uint32_t count = 0;
};

/// Numbers the different actions of a thread's events in the order in which they first occur.
class SymbolTable {
 public:
  std::uint32_t symbol(const Event& e) {
    const std::uint32_t what = e.kind == Event::Kind::collective ? e.collective : static_cast<std::uint32_t>(e.peer);
    const std::uint64_t key = std::uint64_t{static_cast<std::uint8_t>(e.kind)} << 32 | what;
    return numbers_.emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

EventPieces pieces_of(const Events& events) {
  EventPieces out;
  out.of_event.resize(events.events.size());
  std::size_t group = 0;
  for (std::size_t t = 0; t + 1 < events.first_of_thread.size(); ++t) {
    const std::size_t first = events.first_of_thread[t], end = events.first_of_thread[t + 1];
    SymbolTable table;
    Groups groups;
    for (std::size_t e = first; e < end; ++e) groups.symbols.push_back(table.symbol(events.events[e]));
    for (; events.first_of_group[group] < end; ++group) groups.first.push_back(events.first_of_group[group] - first);
    groups.first.push_back(end - first);
    for (const Piece& piece : cut_into_repeats(groups).pieces) {
      for (std::size_t e = first + piece.first; e < first + piece.end; ++e) out.of_event[e] = out.count;
      ++out.count;
    }
  }
  return out;
}

/// Sets of pieces, each with a representative.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0u); }

  std::uint32_t find(std::uint32_t a) {
    while (parent_[a] != a) a = parent_[a] = parent_[parent_[a]];
    return a;
  }
  /// The smaller representative stays.  Combined with path halving, this keeps trees flat enough.
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a), b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

/// The set of each event: of pieces that share messages or collectives.
std::vector<std::uint32_t> bags_of(const Record& record, const std::vector<Event>& events, EventPieces pieces) {
  Sets sets(pieces.count);
  std::vector<std::uint32_t> of_message(record.messages.size(), none), of_collective(record.collectives.size(), none);
  for (std::size_t e = 0; e < events.size(); ++e) {
    auto& known = (events[e].kind == Event::Kind::collective ? of_collective : of_message)[events[e].of];
    if (known == none) {
      known = pieces.of_event[e];
    } else {
      sets.join(known, pieces.of_event[e]);
    }
  }
  for (std::uint32_t& piece : pieces.of_event) piece = sets.find(piece);
  return std::move(pieces.of_event);
}

/// Numbers the bags by start time, and those that start at the same time by their first event.
std::vector<std::uint32_t> numbered_by_start(const Record& record, const std::vector<Event>& events,
                                             std::vector<std::uint32_t> bags, std::size_t& count) {
  struct Begin {
    std::int64_t time_ns;
    std::uint32_t bag;
  };
  std::vector<std::uint32_t> place(bags.empty() ? 0 : *std::max_element(bags.begin(), bags.end()) + 1, none);
  std::vector<Begin> begins;
  for (std::size_t e = 0; e < events.size(); ++e) {
    const std::int64_t time = begin_of(record, events[e]);
    if (place[bags[e]] == none) {
      place[bags[e]] = static_cast<std::uint32_t>(begins.size());
      begins.push_back({time, bags[e]});
    } else {
      begins[place[bags[e]]].time_ns = std::min(begins[place[bags[e]]].time_ns, time);
    }
  }
  std::stable_sort(begins.begin(), begins.end(), [](const Begin& a, const Begin& b) { return a.time_ns < b.time_ns; });
  for (std::size_t i = 0; i < begins.size(); ++i) place[begins[i].bag] = static_cast<std::uint32_t>(i);
  for (std::uint32_t& bag : bags) bag = place[bag];
  count = begins.size();
  return bags;
}

/// Sets start, end, bytes, and the ranks that start first and last.  The events are ordered by rank.
void describe(const Record& record, std::span<const Event> events, Instance& instance) {
  instance.start_ns = begin_of(record, events.front());
  instance.end_ns = end_of(record, events.front());
  const Event* first = &events.front();
  bool any = false;
  for (std::size_t e = 0; e < events.size();) {
    const std::int32_t rank = events[e].rank;
    const Event* begin = &events[e];
    for (; e < events.size() && events[e].rank == rank; ++e) {
      if (begin_of(record, events[e]) < begin_of(record, *begin)) begin = &events[e];
      instance.end_ns = std::max(instance.end_ns, end_of(record, events[e]));
      instance.bytes += events[e].bytes;
    }
    const std::int64_t time = begin_of(record, *begin);
    if (!any || time < instance.start_ns) instance.start_ns = time, instance.first_rank = rank, first = begin;
    if (!any || time > instance.last_start_ns) instance.last_start_ns = time, instance.last_rank = rank;
    any = true;
  }
  if (first->context != none) instance.function = record.calls[first->context].region;
}

}  // namespace

Patterns join_instances(const Record& record, Events events) {
  Patterns out;
  out.left_out = events.left_out;
  std::size_t count = 0;
  const std::vector<std::uint32_t> instance_of =
      numbered_by_start(record, events.events, bags_of(record, events.events, pieces_of(events)), count);
  std::vector<std::size_t> place(count + 1);
  for (const std::uint32_t i : instance_of) ++place[i + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  out.instances.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    out.instances[i].first_event = place[i];
    out.instances[i].end_event = place[i + 1];
  }
  out.events.resize(events.events.size());
  for (std::size_t e = 0; e < instance_of.size(); ++e) out.events[place[instance_of[e]]++] = events.events[e];
  const auto by_rank = [](const Event& a, const Event& b) { return a.rank < b.rank; };
  for (Instance& instance : out.instances) {
    const auto own = std::span(out.events).subspan(instance.first_event, instance.end_event - instance.first_event);
    // Threads are usually ordered by rank.
    if (!std::is_sorted(own.begin(), own.end(), by_rank)) std::stable_sort(own.begin(), own.end(), by_rank);
    describe(record, own, instance);
  }
  return out;
}

}  // namespace effort::communication
