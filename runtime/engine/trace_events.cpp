#include "runtime/engine/trace_events.hpp"

#include "runtime/measure/clock.hpp"

namespace effort::engine {

using recording::What;
using recording::Word;
using trace::Event;
using trace::Kind;

namespace {

Kind kind_of(What what) {
  switch (what) {
    case What::enter: return Kind::enter;
    case What::leave: return Kind::leave;
    case What::phase: return Kind::phase;
    case What::rebalance: return Kind::rebalance;
    case What::work: return Kind::work;
    case What::send: return Kind::send;
    case What::send_start: return Kind::send_start;
    case What::send_done: return Kind::send_done;
    case What::receive: return Kind::receive;
    case What::receive_start: return Kind::receive_start;
    case What::receive_done: return Kind::receive_done;
    case What::cancelled: return Kind::request_cancelled;
    case What::collective: return Kind::collective;
    case What::step:
    case What::none: break;
  }
  return Kind::step;
}

bool has_id(Kind kind) {
  return kind != Kind::step && kind != Kind::rebalance && kind != Kind::send_done && kind != Kind::request_cancelled;
}

/// The event of a record without its time and with the rank's id.
Event event_of(const Word* record) {
  const What what = recording::what_of(record[0]);
  Event e;
  e.kind = kind_of(what);
  if (what < What::send) {
    e.id = recording::id_of(record[0]);
    if (what == What::step) e.bytes = record[2];
    if (what == What::work) e.bytes = record[1];
    return e;
  }
  e.id = recording::communicator_of(record[0]);
  e.peer = recording::peer_of(record[0]);
  e.bytes = record[1];
  if (what == What::collective) {
    e.received_bytes = record[2];
  } else {
    e.tag = static_cast<std::int32_t>(record[2]);
    e.request = static_cast<std::uint32_t>(record[2] >> 32);
  }
  return e;
}

}  // namespace

std::int64_t TraceEvents::ns(std::uint64_t ticks) const { return measure::ns_of(ticks - origin_); }

RankEvents TraceEvents::read(std::int64_t first, std::int64_t last) const {
  RankEvents out;
  std::uint64_t from = origin_, to = 0;
  if (!memory_.step_end(last, to) || (first > 0 && !memory_.step_end(first - 1, from))) {
    out.dropped_steps = last + 1 - first;
    return out;
  }
  return read(first, last, from, to);
}

RankEvents TraceEvents::read_rest(std::int64_t first) const {
  std::uint64_t from = origin_, end = 0;
  std::int64_t last = first;
  while (memory_.step_end(last, end)) ++last;
  if (first > 0 && !memory_.step_end(first - 1, from)) from = memory_.lost_until() + 1;
  return read(first, last, from, measure::ticks());
}

/// The events of [from, to), of steps that are there as a whole, as far as they have ended.
RankEvents TraceEvents::read(std::int64_t first, std::int64_t last, std::uint64_t from, std::uint64_t to) const {
  RankEvents out;
  out.last_step = last;
  const std::vector<recording::Extract> extracts = memory_.read(from, to);
  const std::uint64_t lost_until = memory_.lost_until();
  std::int64_t step = first;
  while (step <= last && from <= lost_until) {
    ++out.dropped_steps;
    if (!memory_.step_end(step++, from)) from = to;
  }
  out.start_ns = ns(from);
  out.end_ns = ns(to);
  if (step > last) return out;
  for (const recording::Extract& extract : extracts) {
    ThreadEvents thread;
    thread.thread = static_cast<std::int32_t>(extract.thread);
    translate(extract, from, to, thread);
    if (!thread.events.empty()) out.threads.push_back(std::move(thread));
  }
  return out;
}

/// Appends the events of [from, to).  Communicators, messages and work have the time of the record before.
void TraceEvents::translate(const recording::Extract& extract, std::uint64_t from, std::uint64_t to,
                            ThreadEvents& out) const {
  std::uint64_t now = 0;
  std::size_t at = 0;
  while (at < extract.words.size()) {
    const Word* const record = extract.words.data() + at;
    const What what = recording::what_of(record[0]);
    const std::size_t length = recording::words_of(what);
    if (length == 0 || static_cast<int>(what) >= recording::n_kinds || at + length > extract.words.size()) return;
    at += length;
    if (recording::has_ticks(what)) now = record[1];
    if (now < from || now >= to) continue;
    Event e = event_of(record);
    e.time_ns = ns(now);
    if (has_id(e.kind)) {
      const std::int64_t id = translate_(e.kind, e.id);
      if (id < 0) continue;
      e.id = static_cast<std::uint32_t>(id);
    }
    out.events.push_back(e);
  }
}

}  // namespace effort::engine
