#include "analytics/reduction/segments.hpp"

#include <algorithm>
#include <utility>

#include "analytics/reduction/mixed.hpp"

namespace effort::reduction {

using communication::Call;
using communication::none;
using communication::Record;

namespace {

/// The messages of each call.  Several messages of a call are added up, regardless of their order.
struct Exchanges {
  std::vector<std::uint64_t> hash;
  std::vector<std::uint32_t> ends;

  explicit Exchanges(const Record& record) : hash(record.calls.size(), 0), ends(record.calls.size(), 0) {
    for (const communication::Message& m : record.messages) {
      const std::uint64_t what = mixed(mixed(m.communicator, static_cast<std::uint32_t>(m.tag)), m.bytes);
      const auto sender = static_cast<std::uint32_t>(m.sender), receiver = static_cast<std::uint32_t>(m.receiver);
      add(m.send_start, mixed(mixed(what, receiver), 1));
      if (m.send_done != m.send_start) add(m.send_done, mixed(mixed(what, receiver), 2));
      add(m.receive_start, mixed(mixed(what, sender), 3));
      if (m.receive_done != m.receive_start) add(m.receive_done, mixed(mixed(what, sender), 4));
    }
    for (const communication::Collective& c : record.collectives) {
      const std::uint64_t what =
          mixed(mixed(static_cast<std::uint64_t>(c.operation), c.communicator), static_cast<std::uint32_t>(c.root));
      for (std::size_t i = c.first; i < c.end; ++i) {
        const communication::Participation& p = record.participations[i];
        add(p.start, mixed(mixed(what, p.sent), p.received));
        if (p.done != p.start) add(p.done, mixed(what, 5));
      }
    }
  }
  void add(std::uint32_t call, std::uint64_t of) {
    if (call == none) return;
    hash[call] += of;
    ++ends[call];
  }
};

/// Tells the context of phase 0 from that of no phase.
constexpr std::uint64_t context_of_phase = 1;

/// Collects the segments of one location.
class Cutter {
 public:
  Cutter(const Record& record, const Exchanges& exchanges, std::uint32_t location, Segments& out)
      : record_(record), exchanges_(exchanges), location_(location), out_(out) {}

  void cut(std::int64_t at_ns, std::uint64_t context) {
    close(at_ns);
    current_.begin_ns = at_ns;
    current_.structure = context;
    begun_ = true;
  }
  void stamp(std::uint32_t call, bool ends, std::int64_t at_ns) {
    if (!begun_) cut(at_ns, 0);
    out_.stamps.push_back({call, ends});
    current_.structure = mixed(current_.structure, 2 * std::uint64_t{record_.calls[call].region} + (ends ? 1 : 0));
    if (!ends) {
      current_.structure = mixed(current_.structure, exchanges_.hash[call]);
      current_.ends_of_messages += exchanges_.ends[call];
    }
    last_ = at_ns;
  }
  /// The segment's time ends with the part of the trace that was kept.
  void close(std::int64_t next_ns) {
    if (out_.stamps.size() > first_) {
      while (span_ < record_.spans.size() && record_.spans[span_].end_ns < last_) ++span_;
      if (span_ < record_.spans.size() && record_.spans[span_].end_ns > last_)
        next_ns = std::min(next_ns, record_.spans[span_].end_ns);
      current_.end_ns = next_ns == end_of_trace ? last_ : std::max(last_, next_ns);
      current_.first = first_;
      current_.end = out_.stamps.size();
      current_.location = location_;
      out_.segments.push_back(current_);
    }
    first_ = out_.stamps.size();
    current_ = {};
  }
  void finish() { close(end_of_trace); }

 private:
  static constexpr std::int64_t end_of_trace = INT64_MAX;

  const Record& record_;
  const Exchanges& exchanges_;
  std::uint32_t location_;
  Segments& out_;
  Segment current_;
  bool begun_ = false;
  std::size_t first_ = out_.stamps.size(), span_ = 0;
  std::int64_t last_ = 0;
};

/// Visits the begins and ends of a location's calls in the order in which they happened.
template <typename Begin, typename End>
void each_boundary(const Record& record, const communication::Location& location, const Begin& begin, const End& end) {
  std::vector<std::uint32_t> open;
  const auto leave = [&] {
    end(open.back());
    open.pop_back();
  };
  for (auto c = static_cast<std::uint32_t>(location.first_call); c < location.end_call; ++c) {
    while (!open.empty() && open.back() != record.calls[c].parent) leave();
    begin(c);
    open.push_back(c);
  }
  while (!open.empty()) leave();
}

}  // namespace

Segments cut_at_regions(const Record& record, const std::vector<bool>& regions) {
  const Exchanges exchanges(record);
  Segments out;
  for (std::uint32_t l = 0; l < record.locations.size(); ++l) {
    Cutter cutter(record, exchanges, l, out);
    std::vector<std::pair<std::uint64_t, std::uint64_t>>
        around;  ///< of each open iteration: its context, the present one
    const auto is_segment = [&](const Call& call) { return call.region < regions.size() && regions[call.region]; };
    std::uint64_t base = 1;
    each_boundary(
        record, record.locations[l],
        [&](std::uint32_t c) {
          const Call& call = record.calls[c];
          if (is_segment(call)) {
            around.emplace_back(base, 0);
            base = mixed(base, 2 * std::uint64_t{call.region});
            cutter.cut(call.begin_ns, base);
          }
          if (call.begins) cutter.stamp(c, false, call.begin_ns);
        },
        [&](std::uint32_t c) {
          const Call& call = record.calls[c];
          if (call.ends) cutter.stamp(c, true, call.end_ns);
          if (!is_segment(call)) return;
          base = around.back().first;
          around.pop_back();
          cutter.cut(call.end_ns, mixed(base, 2 * std::uint64_t{call.region} + 1));
        });
    cutter.finish();
  }
  return out;
}

Segments cut_at_steps(const Record& record) {
  const Exchanges exchanges(record);
  Segments out;
  for (std::uint32_t l = 0; l < record.locations.size(); ++l) {
    const std::int32_t rank = record.locations[l].rank;
    auto step = std::lower_bound(record.steps.begin(), record.steps.end(), rank,
                                 [](const communication::Step& s, std::int32_t r) { return s.rank < r; });
    auto phase = std::lower_bound(record.phases.begin(), record.phases.end(), rank,
                                  [](const communication::PhaseStart& p, std::int32_t r) { return p.rank < r; });
    std::uint64_t place = 0, context = 0;  // whether before the first step; the phase
    Cutter cutter(record, exchanges, l, out);
    const auto stamp = [&](std::uint32_t c, bool ends, std::int64_t at) {
      while (true) {
        const bool has_step = step != record.steps.end() && step->rank == rank && step->begin_ns <= at;
        const bool has_phase = phase != record.phases.end() && phase->rank == rank && phase->begin_ns <= at;
        if (!has_step && !has_phase) break;
        if (has_phase && (!has_step || phase->begin_ns < step->begin_ns)) {
          context = mixed(context_of_phase, phase->phase);
          cutter.cut(phase->begin_ns, mixed(place, context));
          ++phase;
        } else {
          place = 1;
          cutter.cut(step->begin_ns, mixed(place, context));
          ++step;
        }
      }
      cutter.stamp(c, ends, at);
    };
    each_boundary(
        record, record.locations[l],
        [&](std::uint32_t c) {
          if (record.calls[c].begins) stamp(c, false, record.calls[c].begin_ns);
        },
        [&](std::uint32_t c) {
          if (record.calls[c].ends) stamp(c, true, record.calls[c].end_ns);
        });
    cutter.finish();
  }
  return out;
}

}  // namespace effort::reduction
