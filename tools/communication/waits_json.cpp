#include <algorithm>
#include <map>
#include <utility>

#include "analytics/communication/timeline.hpp"
#include "tools/communication/waits_output.hpp"

namespace effort::tools {

using communication::none;
using nlohmann::ordered_json;

namespace {

std::vector<WaitedFor> waited_for_of(const WaitFindings& f) {
  std::map<std::int32_t, WaitedFor> ranks;
  const communication::Record& record = f.trace.record;
  for (const communication::Wait& w : f.waits.waits)
    ranks[record.locations[f.tree.location_of[w.for_call]].rank].direct_ns += static_cast<double>(w.ns);
  for (const communication::Delay& delay : f.delays.delays) {
    WaitedFor& of = ranks[delay.rank];
    of.delay_ns += delay.ns;
    if (delay.ns > of.most.ns) of.most = delay;
  }
  std::vector<WaitedFor> out;
  for (auto& [rank, of] : ranks) {
    of.rank = rank;
    out.push_back(of);
  }
  std::stable_sort(out.begin(), out.end(), [](const WaitedFor& a, const WaitedFor& b) {
    return std::pair(a.delay_ns, a.direct_ns) > std::pair(b.delay_ns, b.direct_ns);
  });
  return out;
}

double seconds(double ns) { return 1e-9 * ns; }

}  // namespace

WaitFindings::WaitFindings(CommunicationTrace communication) : trace(std::move(communication)) {
  const communication::Record& record = trace.record;
  tree = communication::call_tree(record);
  waits = communication::find_waits(record);
  totals = communication::total_waits(record, waits, tree.location_of);
  by_path = communication::waits_by_path(waits, tree.of_call);
  const communication::Timeline timeline(record, tree, waits);
  critical = communication::critical_path(record, tree, waits, timeline);
  delays = communication::find_delays(record, tree, waits, timeline);
  waited_for = waited_for_of(*this);
  for (const communication::Wait& w : waits.waits) total_ns += static_cast<double>(w.ns);
}

std::string WaitFindings::region_text(std::uint32_t path) const {
  return path == none ? "(outside of all regions)" : trace.record.regions[tree.paths[path].region];
}

std::string WaitFindings::path_text(std::uint32_t path) const {
  return path == none ? region_text(path) : communication::path_text(trace.record, tree, path);
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
  for (const communication::Delay& d : f.delays.delays)
    delays.push_back({{"rank", d.rank},
                      {"region", f.region_text(d)},
                      {"path", f.path_text(d)},
                      {"seconds", seconds(d.ns)},
                      {"propagated_seconds", seconds(d.propagated_ns)}});
  out["unexplained_seconds"] = seconds(f.delays.unexplained_ns);
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
