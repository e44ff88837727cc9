#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "analytics/communication/timeline.hpp"
#include "tools/communication/waits_output.hpp"

namespace effort::tools {

using communication::none;
using nlohmann::ordered_json;

namespace {

using ByRank = std::map<std::int32_t, WaitedFor>;

void add(ByRank& ranks, const communication::Delay& delay) {
  WaitedFor& of = ranks[delay.rank];
  of.delay_ns += delay.ns;
  if (delay.ns > of.most.ns) of.most = delay;
}

/// By delays, then by direct waits.
std::vector<WaitedFor> sorted(const ByRank& ranks) {
  std::vector<WaitedFor> out;
  for (const auto& [rank, of] : ranks) {
    out.push_back(of);
    out.back().rank = rank;
  }
  std::stable_sort(out.begin(), out.end(), [](const WaitedFor& a, const WaitedFor& b) {
    return std::pair(a.delay_ns, a.direct_ns) > std::pair(b.delay_ns, b.direct_ns);
  });
  return out;
}

std::vector<WaitedFor> waited_for_of(const WaitFindings& f) {
  ByRank ranks;
  const communication::Record& record = f.trace.record;
  for (const communication::Wait& w : f.waits.waits)
    ranks[record.locations[f.tree.location_of[w.for_call]].rank].direct_ns += static_cast<double>(w.ns);
  for (const communication::Delay& delay : f.delays) add(ranks, delay);
  return sorted(ranks);
}

/// [spans + 1]; the last one: outside of all spans.
std::vector<bool> chosen_spans(const communication::Record& record, const std::optional<StepRange>& steps) {
  std::vector<bool> out(record.spans.size() + 1, !steps);
  if (!steps) return out;
  bool any = false;
  for (std::size_t i = 0; i < record.spans.size(); ++i) {
    out[i] = record.spans[i].first_step <= steps->last && record.spans[i].last_step >= steps->first;
    any = any || out[i];
  }
  if (any) return out;
  std::string there = "it has no steps";
  if (!record.spans.empty())
    there = "its steps are " + std::to_string(record.spans.front().first_step) + " to " +
            std::to_string(record.spans.back().last_step) + ", not all of which were kept";
  throw std::runtime_error("the trace has no window with steps " + std::to_string(steps->first) + " to " +
                           std::to_string(steps->last) + ": " + there);
}

std::vector<WindowWaits> windows_of(const communication::Record& record, const communication::Waits& waits,
                                    const std::vector<std::uint32_t>& span_of, const communication::Delays& delays,
                                    const std::vector<bool>& chosen) {
  std::vector<WindowWaits> all(record.spans.size());
  std::vector<ByRank> ranks(record.spans.size());
  for (std::size_t i = 0; i < waits.waits.size(); ++i)
    if (span_of[i] != none) all[span_of[i]].ns += static_cast<double>(waits.waits[i].ns);
  for (const communication::Delay& delay : delays.delays)
    if (delay.span != none) add(ranks[delay.span], delay);
  std::vector<WindowWaits> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!chosen[i]) continue;
    all[i].first_step = record.spans[i].first_step;
    all[i].last_step = record.spans[i].last_step;
    const std::vector<WaitedFor> order = sorted(ranks[i]);
    if (!order.empty()) all[i].most = order.front();
    out.push_back(all[i]);
  }
  return out;
}

double seconds(double ns) { return 1e-9 * ns; }

}  // namespace

WaitFindings::WaitFindings(CommunicationTrace communication, const std::optional<StepRange>& steps)
    : trace(std::move(communication)) {
  const communication::Record& record = trace.record;
  tree = communication::call_tree(record);
  waits = communication::find_waits(record);
  std::vector<bool> chosen = chosen_spans(record, steps);
  const std::vector<std::uint32_t> span_of = communication::spans_of(record, waits, tree.location_of);
  {
    const communication::Timeline timeline(record, tree, waits);
    const communication::Delays found = communication::find_delays(record, tree, waits, timeline);
    windows = windows_of(record, waits, span_of, found, chosen);
    delays = communication::delays_of(found, chosen);
    for (std::size_t s = 0; s < chosen.size(); ++s) unexplained_ns += chosen[s] ? found.unexplained_of[s] : 0;
    const std::vector<bool> spans(chosen.begin(), chosen.end() - 1);
    critical = communication::critical_path(record, tree, waits, timeline, steps ? spans : std::vector<bool>());
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < waits.waits.size(); ++i)
    if (chosen[std::min<std::size_t>(span_of[i], record.spans.size())]) waits.waits[kept++] = waits.waits[i];
  waits.waits.resize(kept);
  totals = communication::total_waits(record, waits, tree.location_of);
  by_path = communication::waits_by_path(waits, tree.of_call);
  waited_for = waited_for_of(*this);
  for (const communication::Wait& w : waits.waits) total_ns += static_cast<double>(w.ns);
}

std::string WaitFindings::region_text(std::uint32_t path) const {
  return path == none ? "(outside of all regions)" : trace.record.regions[tree.paths[path].region];
}

std::string WaitFindings::path_text(std::uint32_t path) const {
  return path == none ? region_text(path) : communication::path_text(trace.record, tree, path);
}

std::string WaitFindings::short_text(std::uint32_t path) const {
  return path == none ? region_text(path) : trace.short_names[tree.paths[path].region];
}

std::string WaitFindings::short_text(const communication::Delay& delay) const {
  return delay.before == none ? short_text(delay.path) : "(before " + short_text(delay.before) + ")";
}

std::string WaitFindings::short_path_text(std::uint32_t path) const {
  std::string out = short_text(path);
  if (path == none) return out;
  for (std::uint32_t at = tree.paths[path].parent; at != none; at = tree.paths[at].parent)
    out = trace.short_names[tree.paths[at].region] + "/" + out;
  return out;
}

std::string WaitFindings::short_path_text(const communication::Delay& delay) const {
  return delay.before == none ? short_path_text(delay.path) : "(before " + short_path_text(delay.before) + ")";
}

std::string WaitFindings::region_text(const communication::Delay& delay) const {
  return delay.before == none ? region_text(delay.path) : "(before " + region_text(delay.before) + ")";
}

std::string WaitFindings::path_text(const communication::Delay& delay) const {
  return delay.before == none ? path_text(delay.path) : "(before " + path_text(delay.before) + ")";
}

ordered_json waits_json(const WaitFindings& f) {
  ordered_json out;
  ordered_json& totals = out["totals_ns"] = ordered_json::object();
  for (std::size_t c = 0; c < communication::n_causes; ++c)
    totals[std::string(communication::cause_text(static_cast<communication::Cause>(c)))] = f.totals[c];
  const communication::Record& record = f.trace.record;
  out["unmatched"] = record.unmatched_sends + record.unmatched_receives;
  out["unmatched_sends"] = record.unmatched_sends;
  out["unmatched_receives"] = record.unmatched_receives;
  ordered_json& path = out["critical_path"] = ordered_json::array();
  for (const communication::CriticalActivity& a : f.critical.activities)
    path.push_back({{"rank", a.rank},
                    {"region", f.region_text(a.path)},
                    {"seconds", seconds(static_cast<double>(a.ns))},
                    {"path", f.path_text(a.path)}});
  out["critical_path_seconds"] = seconds(static_cast<double>(f.critical.ns));
  out["critical_path_imbalance_seconds"] = seconds(static_cast<double>(f.critical.imbalance_ns));
  ordered_json& ranks = out["waited_for"] = ordered_json::array();
  for (const WaitedFor& w : f.waited_for)
    ranks.push_back({{"rank", w.rank},
                     {"seconds", seconds(w.direct_ns)},
                     {"delay_seconds", seconds(w.delay_ns)},
                     {"region", w.most.ns > 0 ? ordered_json(f.region_text(w.most)) : ordered_json()}});
  ordered_json& delays = out["delays"] = ordered_json::array();
  for (const communication::Delay& d : f.delays)
    delays.push_back({{"rank", d.rank},
                      {"region", f.region_text(d)},
                      {"path", f.path_text(d)},
                      {"seconds", seconds(d.ns)},
                      {"propagated_seconds", seconds(d.propagated_ns)}});
  out["unexplained_seconds"] = seconds(f.unexplained_ns);
  ordered_json& windows = out["windows"] = ordered_json::array();
  for (const WindowWaits& w : f.windows) {
    const bool known = w.most && w.most->most.ns > 0;
    windows.push_back({{"first", w.first_step},
                       {"last", w.last_step},
                       {"seconds", seconds(w.ns)},
                       {"rank", known ? ordered_json(w.most->rank) : ordered_json()},
                       {"delay_seconds", known ? ordered_json(seconds(w.most->delay_ns)) : ordered_json()},
                       {"region", known ? ordered_json(f.region_text(w.most->most)) : ordered_json()}});
  }
  ordered_json& paths = out["paths"] = ordered_json::array();
  for (const communication::PathWaits& p : f.by_path)
    paths.push_back({{"path", f.path_text(p.path)},
                     {"cause", communication::cause_text(p.cause)},
                     {"count", p.count},
                     {"ns", p.ns}});
  out["lower_bounds"] = f.waits.lower_bounds;
  out["unknown"] = f.waits.unknown;
  out["unfinished"] = f.waits.unfinished;
  out["reversed"] = {{"messages", f.waits.reversed}, {"largest_ns", f.waits.largest_reversal}};
  out["notes"] = f.trace.notes;
  return out;
}

}  // namespace effort::tools
