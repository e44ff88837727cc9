#include "runtime/trace/trace_events.hpp"

#include "runtime/measure/clock.hpp"

#include <algorithm>

namespace effort::engine {

using recording::RecordKind;
using recording::Word;
using trace::Event;
using trace::Kind;

namespace {

Kind kind_of(RecordKind what) {
  switch (what) {
    case RecordKind::enter: return Kind::enter;
    case RecordKind::leave: return Kind::leave;
    case RecordKind::phase: return Kind::phase;
    case RecordKind::rebalance: return Kind::rebalance;
    case RecordKind::work: return Kind::work;
    case RecordKind::send: return Kind::send;
    case RecordKind::send_start: return Kind::send_start;
    case RecordKind::send_done: return Kind::send_done;
    case RecordKind::receive: return Kind::receive;
    case RecordKind::receive_start: return Kind::receive_start;
    case RecordKind::receive_done: return Kind::receive_done;
    case RecordKind::cancelled: return Kind::request_cancelled;
    case RecordKind::collective: return Kind::collective;
    case RecordKind::one_sided: return Kind::one_sided;
    case RecordKind::step:
    case RecordKind::none: break;
  }
  return Kind::step;
}

bool has_id(Kind kind) {
  return kind != Kind::step && kind != Kind::rebalance && kind != Kind::send_done && kind != Kind::request_cancelled;
}

/// The event of a record without its time and with the rank's id.
Event event_of(const Word* record) {
  const RecordKind what = recording::record_kind_of(record[0]);
  Event e;
  e.kind = kind_of(what);
  if (what < RecordKind::send) {
    e.id = recording::id_of(record[0]);
    if (what == RecordKind::step) e.bytes = record[2];
    if (what == RecordKind::work) e.bytes = record[1];
    return e;
  }
  e.id = recording::communicator_of(record[0]);
  e.peer = recording::peer_of(record[0]);
  e.bytes = record[1];
  if (what == RecordKind::collective || what == RecordKind::one_sided) {
    e.received_bytes = record[2];
  } else {
    e.tag = static_cast<std::int32_t>(record[2]);
    e.request = static_cast<std::uint32_t>(record[2] >> 32);
  }
  return e;
}

}  // namespace

std::int64_t TraceEvents::ns(std::uint64_t ticks) const { return measure::ns_of(ticks - origin_); }

/// The ticks of the steps [first, last]; false if they are no longer known.
bool TraceEvents::find_span(std::int64_t first, std::int64_t last, RankEvents& out, std::uint64_t& from,
                            std::uint64_t& to) const {
  from = origin_;
  if (memory_.step_end(last, to) && (first == 0 || memory_.step_end(first - 1, from))) return true;
  out.dropped_steps = last + 1 - first;
  return false;
}

/// Drops the steps of which records have been lost so far.
void TraceEvents::drop_lost(std::int64_t first, std::int64_t last, std::uint64_t from, std::uint64_t to,
                            RankEvents& out) const {
  const std::uint64_t lost_until = memory_.lost_until();
  for (std::int64_t step = first; step <= last && from <= lost_until;) {
    ++out.dropped_steps;
    if (!memory_.step_end(step++, from)) from = to;
    if (step > last) from = to;
  }
  out.start_ns = ns(from);
  out.end_ns = ns(to);
  if (out.dropped_steps > 0)
    for (ThreadEvents& t : out.threads)
      std::erase_if(t.events, [&](const Event& e) { return e.time_ns < out.start_ns; });
  std::erase_if(out.threads, [](const ThreadEvents& t) { return t.events.empty(); });
}

/// Translates the rank's id to the run's; false if the run does not know it.
bool TraceEvents::translate_id(Event& e) const {
  if (!has_id(e.kind)) return true;
  const std::int64_t id = translate_(e.kind, e.id);
  if (id < 0) return false;
  e.id = static_cast<std::uint32_t>(id);
  return true;
}

namespace {

/// The events of a thread: the last one so far, or a new one.
std::vector<Event>& events_of(std::uint32_t thread, RankEvents& out) {
  const auto number = static_cast<std::int32_t>(thread);
  if (out.threads.empty() || out.threads.back().thread != number) out.threads.push_back({number, {}});
  return out.threads.back().events;
}

}  // namespace

RankEvents TraceEvents::read(std::int64_t first, std::int64_t last) const {
  RankEvents out;
  std::uint64_t from = 0, to = 0;
  if (!find_span(first, last, out, from, to)) return out;
  return read(first, last, from, to);
}

RankEvents TraceEvents::read_rest(std::int64_t first) const {
  std::uint64_t from = origin_, end = 0;
  std::int64_t last = first;
  while (memory_.step_end(last, end)) ++last;
  if (first > 0 && !memory_.step_end(first - 1, from)) from = memory_.lost_until() + 1;
  return read(first, last, from, measure::ticks());
}

/// The events of [from, to), without those of steps whose records are incomplete.
RankEvents TraceEvents::read(std::int64_t first, std::int64_t last, std::uint64_t from, std::uint64_t to) const {
  RankEvents out;
  out.last_step = last;
  const std::vector<recording::Piece> pieces = memory_.pieces(from, to);
  // Reserve once, because growing would take as long as everything else.
  if (!pieces.empty()) events_of(pieces[0].thread, out).reserve(pieces.size() * recording::Memory::block_words / 2);
  recording::for_each_record(memory_, pieces, from, to,
                             [&](std::uint32_t thread, const Word* record, std::uint64_t ticks) {
                               Event e = event_of(record);
                               e.time_ns = ns(ticks);
                               if (translate_id(e)) events_of(thread, out).push_back(e);
                             });
  drop_lost(first, last, from, to, out);
  return out;
}

namespace {

/// Selects the messages of a rank that were exchanged with kept ranks.  A receive from any source qualifies when it is
/// complete, a completed send if its start did.
class Exchanges {
 public:
  /// @param several_threads  one may complete a request that another has started
  Exchanges(const std::vector<bool>& kept, bool several_threads) : kept_(kept), several_(several_threads) {}

  /// A record that may belong to such a message.
  struct Candidate {
    Word words[recording::longest];
    std::uint64_t ticks;
    std::uint32_t thread;
    bool chosen;

    std::size_t request() const { return static_cast<std::size_t>(words[2] >> 32); }
  };

  void look_at(std::uint32_t thread, const Word* record, std::uint64_t ticks) {
    const RecordKind what = recording::record_kind_of(record[0]);
    if (what < RecordKind::send || what > RecordKind::cancelled) return;
    const std::int32_t peer = recording::peer_of(record[0]);
    const bool chosen =
        peer >= 0 && static_cast<std::size_t>(peer) < kept_.size() && kept_[static_cast<std::size_t>(peer)];
    const bool ends =
        what == RecordKind::receive_done || what == RecordKind::send_done || what == RecordKind::cancelled;
    const bool any = what == RecordKind::receive_start && peer < 0;
    if (!chosen && !any && !ends) return;
    const auto request = static_cast<std::size_t>(record[2] >> 32);
    if (ends && !chosen && !several_ && start_of(request) == 0) return;
    all_.push_back({{record[0], record[1], record[2]}, ticks, thread, chosen});
    if (!several_) connect(all_.size() - 1);
  }

  /// The records of such messages, by thread and time.
  std::vector<Candidate> chosen() {
    const auto earlier = [](const Candidate& a, const Candidate& b) { return a.ticks < b.ticks; };
    const auto by_thread = [](const Candidate& a, const Candidate& b) { return a.thread < b.thread; };
    if (several_) {
      std::stable_sort(all_.begin(), all_.end(), earlier);
      for (std::size_t i = 0; i < all_.size(); ++i) connect(i);
    }
    std::erase_if(all_, [](const Candidate& c) { return !c.chosen; });
    if (several_) std::stable_sort(all_.begin(), all_.end(), by_thread);
    return std::move(all_);
  }

 private:
  static constexpr std::size_t most_requests = std::size_t{1} << 20;

  void connect(std::size_t i) {
    Candidate& c = all_[i];
    const RecordKind what = recording::record_kind_of(c.words[0]);
    if (what == RecordKind::send || what == RecordKind::receive) return;
    std::size_t& start = start_of(c.request());
    if (what == RecordKind::send_start || what == RecordKind::receive_start) {
      start = i + 1;
      return;
    }
    if (start > 0) c.chosen = all_[start - 1].chosen = c.chosen || all_[start - 1].chosen;
    start = 0;
  }

  std::size_t& start_of(std::size_t request) {
    if (request >= most_requests) return no_start_ = 0;  // the request has no number
    if (request >= starts_.size()) starts_.resize(std::max<std::size_t>(64, 2 * request), 0);
    return starts_[request];
  }

  const std::vector<bool>& kept_;
  const bool several_;
  std::vector<Candidate> all_;
  std::vector<std::size_t> starts_;  ///< by request: place of its start in `all_` + 1
  std::size_t no_start_ = 0;
};

}  // namespace

RankEvents TraceEvents::read_messages(std::int64_t first, std::int64_t last, const std::vector<bool>& kept) const {
  RankEvents out;
  std::uint64_t from = 0, to = 0;
  if (!find_span(first, last, out, from, to)) return out;
  const std::vector<recording::Piece> pieces = memory_.pieces(from, to);
  Exchanges exchanges(kept, !pieces.empty() && pieces.front().thread != pieces.back().thread);
  recording::for_each_record(
      memory_, pieces, from, to,
      [&](std::uint32_t thread, const Word* record, std::uint64_t ticks) { exchanges.look_at(thread, record, ticks); });
  for (const Exchanges::Candidate& c : exchanges.chosen()) {
    Event e = event_of(c.words);
    e.time_ns = ns(c.ticks);
    if (translate_id(e)) events_of(c.thread, out).push_back(e);
  }
  drop_lost(first, last, from, to, out);
  return out;
}

}  // namespace effort::engine
