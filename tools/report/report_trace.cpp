#include "tools/report/report_trace.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "analytics/codec/bytes.hpp"
#include "tools/trace/model/call_paths.hpp"

namespace effort::tools {

using nlohmann::ordered_json;

namespace {

namespace why = record::trace;

constexpr std::size_t most_events = 16384;  // of a piece
constexpr std::size_t most_calls = 200;     // call paths in the page

/// Consecutive events of a thread.
struct Piece {
  std::size_t thread = 0, window = 0, number = 0;  // number in its span
  std::size_t first = 0;                           // its first event
  std::int64_t start_ns = 0, end_ns = 0;
  std::size_t slices = 0;
  int rank_order = 0;  // the lower, the earlier
  std::vector<std::byte> bytes;
  std::size_t message_bytes = 0;  // of the messages that are sent in it
  bool taken = false;
};

struct Slice {
  std::int64_t begin_ns, end_ns;
  std::size_t depth;
  std::uint64_t region_and_flags;
};

std::vector<Piece> cut(const TraceThread& thread, std::size_t index, const TraceSpan& span) {
  std::vector<Piece> out;
  for (std::size_t first = span.first; first < span.end || out.empty(); first += most_events) {
    Piece piece;
    piece.thread = index;
    piece.window = span.window;
    piece.number = out.size();
    piece.first = first;
    piece.start_ns = out.empty() ? span.start_ns : thread.events[first].time_ns;
    if (!out.empty()) out.back().end_ns = piece.start_ns;
    piece.end_ns = std::max(span.end_ns, piece.start_ns);
    out.push_back(piece);
  }
  return out;
}

/// Puts the calls of a span into its pieces.  A call that lies in several pieces is a slice in each of them.
void fill(std::vector<Piece>& pieces, const TraceThread& thread, const TraceSpan& span, CallPaths& paths) {
  std::vector<std::vector<Slice>> slices(pieces.size());
  struct {
    std::vector<Piece>& pieces;
    std::vector<std::vector<Slice>>& slices;
    CallPaths& paths;
    void event(std::size_t, std::int32_t) {}
    void end(const Call& call) {
      const auto later = std::upper_bound(pieces.begin(), pieces.end(), call.begin_ns,
                                          [](std::int64_t time, const Piece& p) { return time < p.start_ns; });
      auto at = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, later - pieces.begin() - 1));
      for (bool first = true; at < pieces.size() && (first || pieces[at].start_ns < call.end_ns); ++at, first = false) {
        const std::int64_t end = std::min(call.end_ns, pieces[at].end_ns);
        const bool before = !call.begins || !first, after = !call.ends || end < call.end_ns;
        slices[at].push_back({std::max(call.begin_ns, pieces[at].start_ns), end, call.depth,
                              std::uint64_t{paths.region(call.path)} * 4 + (before ? 2 : 0) + (after ? 1 : 0)});
      }
    }
  } visitor{pieces, slices, paths};
  walk_calls(thread, span, paths, visitor);
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    std::stable_sort(slices[p].begin(), slices[p].end(), [](const Slice& a, const Slice& b) {
      return std::pair(a.begin_ns, a.depth) < std::pair(b.begin_ns, b.depth);
    });
    std::int64_t last = pieces[p].start_ns;
    for (const Slice& s : slices[p]) {
      codec::put_varint(pieces[p].bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(0, s.begin_ns - last)));
      codec::put_varint(pieces[p].bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(0, s.end_ns - s.begin_ns)));
      codec::put_varint(pieces[p].bytes, s.region_and_flags);
      codec::put_varint(pieces[p].bytes, s.depth);
      last = std::max(last, s.begin_ns);
    }
    pieces[p].slices = slices[p].size();
  }
}

/// How unlike the others a window is: what happened in it, outliers, and its duration.
std::vector<double> oddness(const Trace& trace) {
  std::vector<double> per_step, out;
  for (const TraceWindow& w : trace.windows)
    per_step.push_back(static_cast<double>(w.end_ns - w.start_ns) /
                       static_cast<double>(w.last_step - w.first_step + 1));
  std::vector<double> sorted = per_step;
  std::sort(sorted.begin(), sorted.end());
  const double usual = sorted.empty() ? 0 : sorted[sorted.size() / 2];
  for (std::size_t i = 0; i < per_step.size(); ++i) {
    std::uint16_t reasons = 0;
    int outliers = 0;
    for (const KeptRank& kept : trace.windows[i].ranks) {
      reasons |= kept.reasons;
      outliers += (kept.reasons & why::reason_outlier) != 0;
    }
    out.push_back(((reasons & why::reason_rebalance) ? 8 : 0) + ((reasons & why::reason_jump) ? 4 : 0) +
                  ((reasons & why::reason_mispredicted) ? 2 : 0) + std::min(1.0, outliers / 8.0) +
                  (usual > 0 ? std::min(1.0, std::abs(per_step[i] / usual - 1)) : 0));
  }
  return out;
}

/// The most informative ranks of a window first.
int order_of(const KeptRank* kept) {
  if (kept == nullptr) return 9;
  const std::uint16_t order[] = {why::reason_critical, why::reason_medoid,       why::reason_rebalance,
                                 why::reason_jump,     why::reason_mispredicted, why::reason_outlier,
                                 why::reason_pin,      why::reason_sample};
  for (int i = 0; i < 8; ++i)
    if (kept->reasons & order[i]) return i;
  return 8;
}

std::vector<Piece> pieces_of(const Trace& trace) {
  std::vector<Piece> out;
  CallPaths paths(trace);
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    const TraceThread& thread = trace.threads[t];
    for (const TraceSpan& span : thread.spans) {
      std::vector<Piece> pieces = cut(thread, t, span);
      fill(pieces, thread, span, paths);
      const KeptRank* const kept =
          span.window < trace.windows.size() ? trace.windows[span.window].find(thread.rank) : nullptr;
      for (Piece& piece : pieces) {
        piece.rank_order = order_of(kept);
        out.push_back(std::move(piece));
      }
    }
  }
  return out;
}

/// Finds pieces by events.
class PieceFinder {
 public:
  PieceFinder(const Trace& trace, std::vector<Piece>& pieces) : pieces_(pieces), first_(trace.threads.size() + 1) {
    for (const Piece& piece : pieces) ++first_[piece.thread + 1];
    for (std::size_t t = 1; t < first_.size(); ++t) first_[t] += first_[t - 1];
  }
  Piece& find(const EventPlace& place) {
    const auto begin = pieces_.begin() + static_cast<std::ptrdiff_t>(first_[place.thread]),
               end = pieces_.begin() + static_cast<std::ptrdiff_t>(first_[place.thread + 1]);
    const auto later = std::upper_bound(begin, end, place.event,
                                        [](std::size_t event, const Piece& piece) { return event < piece.first; });
    return *(later - 1);
  }

 private:
  std::vector<Piece>& pieces_;  // of all threads, in their order
  std::vector<std::size_t> first_;
};

void put_message(std::vector<std::byte>& out, const Trace& trace, const TraceMessage& m, std::int64_t since_ns) {
  codec::put_varint(out, static_cast<std::uint64_t>(std::max<std::int64_t>(0, m.send_ns - since_ns)));
  codec::put_varint(out, static_cast<std::uint64_t>(std::max<std::int64_t>(0, m.receive_ns - m.send_ns)));
  for (const EventPlace& end : {m.send, m.receive}) {
    codec::put_varint(out, static_cast<std::uint64_t>(trace.threads[end.thread].rank));
    codec::put_varint(out, static_cast<std::uint64_t>(trace.threads[end.thread].thread));
  }
  codec::put_varint(out, m.bytes);
  codec::put_varint(out, m.tag < 0 ? static_cast<std::uint64_t>(-(std::int64_t{m.tag} + 1)) * 2 + 1
                                   : static_cast<std::uint64_t>(m.tag) * 2);
}

/// The ranks that the page shows before anything is opened: one of each stratum on each node, the one that was its
/// medoid or was kept most often.
std::set<std::int32_t> representatives(const Trace& trace) {
  std::map<std::int32_t, std::pair<std::int32_t, int>> kept;  // of ranks: the last stratum, and how often
  for (const TraceWindow& window : trace.windows) {
    for (const KeptRank& rank : window.ranks) {
      if (!rank.events) continue;
      auto& [stratum, score] = kept[rank.rank];
      stratum = rank.stratum;
      score += (rank.reasons & why::reason_medoid) != 0 ? 100 : 1;
    }
  }
  std::map<std::pair<std::int32_t, std::int32_t>, std::pair<int, std::int32_t>> best;  // the lowest rank of the best
  for (const auto& [rank, of] : kept) {
    auto& [score, which] = best[{trace.node(rank), of.first}];
    if (of.second > score) score = of.second, which = rank;
  }
  std::set<std::int32_t> out;
  for (const auto& [place, of] : best) out.insert(of.second);
  return out;
}

/// Takes pieces until the room is used up: up to half of it for ranks that are shown first, so that no window is empty
/// at first sight.
void choose(const Trace& trace, std::vector<Piece>& pieces, std::size_t room) {
  const std::vector<double> odd = oddness(trace);
  const std::set<std::int32_t> first = representatives(trace);
  std::vector<std::size_t> order(pieces.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](const Piece& p) { return std::tuple(-odd[p.window], p.window, p.number, p.rank_order); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(pieces[a]) < key(pieces[b]); });
  const auto take = [&](std::size_t most, auto&& wanted) {
    for (const std::size_t i : order) {
      if (pieces[i].taken || !wanted(pieces[i])) continue;
      const std::size_t bytes = pieces[i].bytes.size() + pieces[i].message_bytes;
      if (bytes > most) break;
      most -= bytes;
      room -= bytes;
      pieces[i].taken = true;
    }
  };
  take(room / 2, [&](const Piece& p) { return first.count(trace.threads[p.thread].rank) > 0; });
  take(room, [](const Piece&) { return true; });
}

ordered_json windows_json(const Trace& trace, std::int64_t origin) {
  ordered_json out = ordered_json::array();
  for (const TraceWindow& w : trace.windows) {
    ordered_json strata = ordered_json::array(), ranks = ordered_json::array();
    for (const auto& s : w.strata) strata.push_back({s.population, s.sample});
    for (const KeptRank& k : w.ranks)
      ranks.push_back(
          {k.rank, k.reasons, k.probability, k.stratum, k.dropped_steps, k.events ? 1 : 0, k.rebuilt ? 1 : 0});
    out.push_back({{"first", w.first_step},
                   {"last", w.last_step},
                   {"start", w.start_ns - origin},
                   {"end", w.end_ns - origin},
                   {"error", w.error < 0 ? ordered_json(nullptr) : ordered_json(w.error)},
                   {"confidence", w.confidence < 0 ? ordered_json(nullptr) : ordered_json(w.confidence)},
                   {"strata", strata},
                   {"kept", ranks}});
  }
  return out;
}

ordered_json calls_json(const TraceFindings& f) {
  ordered_json out = ordered_json::array();
  for (const CallEstimate& call : f.calls.calls) {
    if (out.size() == most_calls) break;
    const auto half = [&](bool there, const sampling::Estimate& e) {
      const double width = there ? e.half_width(f.trace.confidence) : -1;
      return width < 0 ? ordered_json(nullptr) : ordered_json(width);
    };
    out.push_back({{"path", call.path},
                   {"count", call.count.total},
                   {"count_error", half(call.counted, call.count)},
                   {"seconds", call.seconds.total},
                   {"seconds_error", half(call.timed, call.seconds)},
                   {"seen", call.seen},
                   {"counted", call.counted},
                   {"timed", call.timed}});
  }
  return out;
}

ordered_json known_ns(std::int64_t value) { return value < 0 ? ordered_json(nullptr) : ordered_json(value); }

/// The trace without its events.
ordered_json description(const TraceFindings& f, std::int64_t origin) {
  const Trace& trace = f.trace;
  ordered_json out;
  std::filesystem::path path = std::filesystem::path(trace.path).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  out["file"] = path.filename().string();
  out["recorder"] = trace.recorder;
  out["otf2"] = trace.is_otf2;
  out["design"] = trace.design;
  out["guide"] = trace.guide;
  out["ranks"] = trace.n_ranks;
  out["confidence"] = trace.confidence;
  out["error"] = trace.error > 0 ? ordered_json(trace.error) : ordered_json(nullptr);
  out["clock_bound"] = known_ns(trace.clock_bound_ns);
  out["dropped_steps"] = trace.dropped_steps;
  out["damaged"] = trace.damaged_chunks;
  out["matched"] = f.messages.matched.size();
  out["unmatched_sends"] = f.messages.unmatched_sends;
  out["unmatched_receives"] = f.messages.unmatched_receives;
  out["clamped"] = f.messages.clamped;
  out["trust"] = trust_sentences(f);
  out["calls"] = calls_json(f);
  out["call_paths"] = f.calls.calls.size();
  out["regions"] = ordered_json::array();
  for (const TraceRegion& region : trace.regions) out["regions"].push_back({region.name, region.kind});
  out["windows"] = windows_json(trace, origin);
  out["nodes"] = ordered_json::array();
  for (const auto& [rank, node] : trace.node_of) out["nodes"].push_back({rank, node});
  const std::vector<std::string> names = reason_names(std::numeric_limits<std::uint16_t>::max());
  out["reasons"] = names;
  return out;
}

}  // namespace

bool names_trace(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".trc" || ending == ".otf2" || std::filesystem::is_directory(path);
}

TraceForPage trace_for_page(const TraceFindings& f, std::size_t most_bytes) {
  const Trace& trace = f.trace;
  std::vector<Piece> pieces = pieces_of(trace);
  std::int64_t origin = std::numeric_limits<std::int64_t>::max(), end = std::numeric_limits<std::int64_t>::min();
  for (const Piece& piece : pieces) origin = std::min(origin, piece.start_ns), end = std::max(end, piece.end_ns);
  for (const TraceWindow& w : trace.windows)
    if (w.end_ns > w.start_ns) origin = std::min(origin, w.start_ns), end = std::max(end, w.end_ns);
  if (origin > end) origin = end = 0;

  TraceForPage out;
  PieceFinder finder(trace, pieces);
  std::int64_t last = origin;
  for (const TraceMessage& m : f.messages.matched) {
    out.messages.clear();
    put_message(out.messages, trace, m, last);
    last = m.send_ns;
    finder.find(m.send).message_bytes += out.messages.size();
  }
  choose(trace, pieces, most_bytes / 4 * 3);

  out.json = description(f, origin);
  out.origin_ns = origin;
  out.json["duration"] = end - origin;
  ordered_json in = ordered_json::array(), left = ordered_json::array();
  std::size_t slices = 0, slices_left = 0;
  for (const Piece& piece : pieces) {
    const TraceThread& thread = trace.threads[piece.thread];
    ordered_json row = {piece.window,          thread.rank, thread.thread, piece.start_ns - origin,
                        piece.end_ns - origin, piece.slices};
    (piece.taken ? slices : slices_left) += piece.slices;
    if (piece.taken) {
      row.push_back(out.events.size());
      out.events.insert(out.events.end(), piece.bytes.begin(), piece.bytes.end());
    }
    (piece.taken ? in : left).push_back(std::move(row));
  }
  out.messages.clear();
  last = origin;
  std::size_t messages = 0;
  for (const TraceMessage& m : f.messages.matched) {
    if (!finder.find(m.send).taken || !finder.find(m.receive).taken) continue;
    put_message(out.messages, trace, m, last);
    last = std::max(last, m.send_ns);
    ++messages;
  }
  out.json["pieces"] = std::move(in);
  out.json["left_out"] = std::move(left);
  out.json["slices"] = slices;
  out.json["slices_left_out"] = slices_left;
  out.json["messages"] = messages;
  return out;
}

}  // namespace effort::tools
