#include "analytics/reduction/segments.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

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

/// Contexts by their hashes.
class Contexts {
 public:
  explicit Contexts(std::vector<Context>& out) : out_(out) {}

  /// The index of a context.  `make` is called if it is new.
  template <typename Make>
  std::uint32_t of(std::uint64_t hash, const Make& make) {
    const auto [found, is_new] = index_.try_emplace(hash, static_cast<std::uint32_t>(out_.size()));
    if (is_new) out_.push_back(make());
    return found->second;
  }
  /// An iteration of a loop within another one.
  std::uint32_t iteration(std::uint64_t hash, std::uint64_t around, std::uint32_t region) {
    return of(hash, [&] { return Context{name(around) + "." + std::to_string(++loops_[around]), region}; });
  }
  std::uint32_t rest(std::uint64_t hash, std::uint64_t around, std::uint64_t iteration) {
    return of(hash, [&] {
      return Context{(around == outside ? "" : name(around) + " ") + "after " + name(iteration), communication::none};
    });
  }
  std::uint32_t initial() {
    return of(0, [] { return Context{"initial", communication::none}; });
  }
  std::uint32_t final() {
    return of(2, [] { return Context{"final", communication::none}; });
  }

  static constexpr std::uint64_t outside = 1;  ///< the hash outside all iterations

 private:
  std::string name(std::uint64_t hash) const {
    const auto found = index_.find(hash);
    return found == index_.end() ? "main" : out_[found->second].name;
  }
  std::vector<Context>& out_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;
  std::unordered_map<std::uint64_t, int> loops_;  // by the context around them
};

/// Tells the context of phase 0 from that of no phase.
constexpr std::uint64_t context_of_phase = 1;

/// Collects the segments of one location.
class Cutter {
 public:
  /// @param context  before the first cut
  Cutter(const Record& record, const Exchanges& exchanges, std::uint32_t location, std::uint32_t context, Segments& out)
      : record_(record), exchanges_(exchanges), location_(location), initial_(context), out_(out) {}

  /// @param hash  of the context
  void cut(std::int64_t at_ns, std::uint64_t hash, std::uint32_t context) {
    close(at_ns);
    current_.begin_ns = at_ns;
    current_.structure = hash;
    current_.context = context;
    begun_ = true;
  }
  void stamp(std::uint32_t call, bool ends, std::int64_t at_ns) {
    if (!begun_) cut(at_ns, 0, initial_);
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
  std::uint32_t location_, initial_;
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
  Contexts contexts(out.contexts);
  for (std::uint32_t l = 0; l < record.locations.size(); ++l) {
    Cutter cutter(record, exchanges, l, contexts.initial(), out);
    std::vector<std::uint64_t> around;  // of each open iteration, the context around it
    const auto is_segment = [&](const Call& call) { return call.region < regions.size() && regions[call.region]; };
    std::uint64_t base = Contexts::outside;
    bool is_outside = false;  // whether the present segment follows an iteration and is in none
    each_boundary(
        record, record.locations[l],
        [&](std::uint32_t c) {
          const Call& call = record.calls[c];
          if (is_segment(call)) {
            around.push_back(base);
            base = mixed(base, 2 * std::uint64_t{call.region});
            is_outside = false;
            cutter.cut(call.begin_ns, base, contexts.iteration(base, around.back(), call.region));
          }
          if (call.begins) cutter.stamp(c, false, call.begin_ns);
        },
        [&](std::uint32_t c) {
          const Call& call = record.calls[c];
          if (call.ends) cutter.stamp(c, true, call.end_ns);
          if (!is_segment(call)) return;
          const std::uint64_t iteration = base, rest = mixed(around.back(), 2 * std::uint64_t{call.region} + 1);
          base = around.back();
          around.pop_back();
          is_outside = base == Contexts::outside;
          cutter.cut(call.end_ns, rest, contexts.rest(rest, base, iteration));
        });
    const std::size_t before = out.segments.size();
    cutter.finish();
    if (is_outside && out.segments.size() > before) out.segments.back().context = contexts.final();
  }
  return out;
}

Segments cut_at_steps(const Record& record) {
  const Exchanges exchanges(record);
  Segments out;
  Contexts contexts(out.contexts);
  for (std::uint32_t l = 0; l < record.locations.size(); ++l) {
    const std::int32_t rank = record.locations[l].rank;
    auto step = std::lower_bound(record.steps.begin(), record.steps.end(), rank,
                                 [](const communication::Step& s, std::int32_t r) { return s.rank < r; });
    auto phase = std::lower_bound(record.phases.begin(), record.phases.end(), rank,
                                  [](const communication::PhaseStart& p, std::int32_t r) { return p.rank < r; });
    Cutter cutter(record, exchanges, l, contexts.initial(), out);
    std::uint64_t place = 0, context = 0;  // whether in a step; the phase
    std::string name = "initial", in_phase;
    const auto cut = [&](std::int64_t at) {
      const std::uint64_t hash = mixed(place, context);
      cutter.cut(at, hash, contexts.of(hash, [&] { return Context{name + in_phase, communication::none}; }));
    };
    const auto stamp = [&](std::uint32_t c, bool ends, std::int64_t at) {
      while (true) {
        const bool has_step = step != record.steps.end() && step->rank == rank && step->begin_ns <= at;
        const bool has_phase = phase != record.phases.end() && phase->rank == rank && phase->begin_ns <= at;
        if (!has_step && !has_phase) break;
        if (has_phase && (!has_step || phase->begin_ns < step->begin_ns)) {
          context = mixed(context_of_phase, phase->phase);
          in_phase = ", phase " + std::to_string(phase->phase);
          cut(phase->begin_ns);
          ++phase;
        } else {
          place = 1;
          name = "step";
          cut(step->begin_ns);
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
