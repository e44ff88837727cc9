#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace effort::trace::test {

namespace {

/// The larger of the relative and the absolute bound, without the integer arithmetic of the library.
double allowed(TimeBound bound, double gap) {
  if (bound.absolute_ns == 0) return 0;
  return std::max(gap * bound.relative_ppm * 1e-6, static_cast<double>(bound.absolute_ns));
}

}  // namespace

std::string difference(const Place& place, const std::vector<Event>& events, const std::vector<Event>& decoded,
                       TimeBound bound) {
  if (events.size() != decoded.size()) return "number of events";
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::string where = " of event " + std::to_string(i);
    Event same = decoded[i];
    same.time_ns = events[i].time_ns;
    if (same != events[i]) return "members" + where;
    if (i > 0 && decoded[i].time_ns < decoded[i - 1].time_ns) return "order" + where;
    // Neighbours in time, searched plainly.
    std::size_t before = i, behind = i;
    while (before > 0 && events[before - 1].time_ns == events[i].time_ns) --before;
    while (behind < events.size() && events[behind].time_ns == events[i].time_ns) ++behind;
    const std::int64_t earlier = before == 0 ? place.start_ns : events[before - 1].time_ns;
    const double off = std::abs(static_cast<double>(decoded[i].time_ns - events[i].time_ns));
    if (off > allowed(bound, static_cast<double>(events[i].time_ns - earlier))) return "time" + where;
    if (behind < events.size() && off > allowed(bound, static_cast<double>(events[behind].time_ns - events[i].time_ns)))
      return "time before the next event" + where;
  }
  return "";
}

std::vector<Event> random_events(std::mt19937_64& random, const Place& place, std::size_t n, int kinds) {
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  const auto number = [&] { return random() >> below(64); };
  std::vector<Event> events;
  std::int64_t now = place.start_ns;
  for (std::size_t i = 0; i < n; ++i) {
    if (below(4) != 0) now += static_cast<std::int64_t>(random() >> (64 - 1 - below(43)));
    Event e;
    e.time_ns = now;
    e.kind = static_cast<Kind>(below(static_cast<std::uint64_t>(kinds)));
    const bool message = e.kind == Kind::send || e.kind == Kind::send_start || e.kind == Kind::receive ||
                         e.kind == Kind::receive_start || e.kind == Kind::receive_done;
    const bool request = e.kind == Kind::send_start || e.kind == Kind::send_done || e.kind == Kind::receive_start ||
                         e.kind == Kind::receive_done || e.kind == Kind::request_cancelled;
    const bool two_ways = e.kind == Kind::collective || e.kind == Kind::one_sided;
    if (message || two_ways) e.peer = static_cast<std::int32_t>(below(3) == 0 ? below(1u << 31) : below(4)) - 1;
    if (message) e.tag = static_cast<std::int32_t>(below(2) == 0 ? number() : below(3));
    if (request) e.request = static_cast<std::uint32_t>(below(2) == 0 ? number() : below(6));
    if (two_ways) e.received_bytes = number();
    if (e.kind == Kind::step || e.kind == Kind::work || two_ways || (message && e.kind != Kind::receive_start))
      e.bytes = below(2) == 0 ? number() : 8 * below(3);
    if (message || e.kind == Kind::enter || e.kind == Kind::leave || two_ways || e.kind == Kind::phase ||
        e.kind == Kind::work)
      e.id = static_cast<std::uint32_t>(below(3) == 0 ? number() : below(5));
    events.push_back(e);
  }
  return events;
}

std::vector<Event> regular_steps(std::mt19937_64& random, const Place& place, int ranks, int steps) {
  std::vector<Event> events;
  std::int64_t now = place.start_ns;
  const auto add = [&](Kind kind, std::int64_t wait) -> Event& {
    now += wait == 0 ? 0 : wait + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(wait));
    events.emplace_back();
    events.back().kind = kind;
    events.back().time_ns = now;
    return events.back();
  };
  const auto message = [&](Kind kind, int peer, std::uint32_t request, std::uint64_t bytes) {
    Event& e = add(kind, 0);
    e.peer = (peer + ranks) % ranks;
    e.request = request;
    e.bytes = bytes;
  };
  for (int step = 0; step < steps; ++step) {
    add(Kind::step, 1000).bytes = static_cast<std::uint64_t>(place.first_step + step);
    add(Kind::enter, 300'000).id = 1;
    message(Kind::receive_start, place.rank - 1, 1, 0);
    add(Kind::leave, 300).id = 1;
    add(Kind::enter, 200).id = 2;
    message(Kind::send_start, place.rank + 1, 2, 4096);
    add(Kind::leave, 900).id = 2;
    add(Kind::enter, 100).id = 3;
    add(Kind::send_done, 20'000).request = 2;
    message(Kind::receive_done, place.rank - 1, 1, 4096);
    add(Kind::leave, 0).id = 3;
  }
  return events;
}

}  // namespace effort::trace::test
