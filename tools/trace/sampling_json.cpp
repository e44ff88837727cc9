#include "tools/trace/sampling_json.hpp"

#include <algorithm>
#include <stdexcept>

namespace effort::tools {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json window_json(const TraceWindow& window) {
  ordered_json out = {{"window", window.ordinal},       {"first_step", window.first_step},
                      {"last_step", window.last_step},  {"start_ns", window.start_ns},
                      {"end_ns", window.end_ns},        {"error", window.error},
                      {"confidence", window.confidence}};
  out["strata"] = ordered_json::array();
  for (const auto& stratum : window.strata) out["strata"].push_back({stratum.population, stratum.sample});
  out["ranks"] = ordered_json::array();
  for (const KeptRank& kept : window.ranks)
    out["ranks"].push_back(
        {kept.rank, kept.reasons, kept.probability, kept.stratum, kept.dropped_steps, kept.dropped_events, kept.lost});
  return out;
}

TraceWindow window_from(const json& from) {
  TraceWindow out;
  out.ordinal = from.at("window");
  out.first_step = from.at("first_step");
  out.last_step = from.at("last_step");
  out.start_ns = from.at("start_ns");
  out.end_ns = from.at("end_ns");
  out.error = from.at("error");
  out.confidence = from.at("confidence");
  for (const json& stratum : from.at("strata")) out.strata.push_back({stratum.at(0), stratum.at(1)});
  for (const json& rank : from.at("ranks")) {
    KeptRank kept{rank.at(0), rank.at(1), rank.at(2), rank.at(3), rank.at(4), rank.at(5)};
    kept.lost = rank.at(6);
    if (!out.ranks.empty() && out.ranks.back().rank >= kept.rank) throw std::runtime_error("ranks are not in order");
    out.ranks.push_back(kept);
  }
  return out;
}

}  // namespace

ordered_json sampling_json(const Trace& trace) {
  ordered_json out = {{"version", 1},
                      {"name", trace.name},
                      {"job", trace.job},
                      {"recorder", trace.recorder},
                      {"ranks", trace.n_ranks},
                      {"nodes", trace.n_nodes},
                      {"design", trace.design},
                      {"guide", trace.guide},
                      {"confidence", trace.confidence},
                      {"error", trace.error},
                      {"relative_ppm", trace.bound.relative_ppm},
                      {"absolute_ns", trace.bound.absolute_ns},
                      {"clock_bound_ns", trace.clock_bound_ns},
                      {"dropped_steps", trace.dropped_steps}};
  out["windows"] = ordered_json::array();
  for (const TraceWindow& window : trace.windows) out["windows"].push_back(window_json(window));
  out["spans"] = ordered_json::array();
  for (const TraceThread& thread : trace.threads) {
    ordered_json spans = {thread.rank, thread.thread};
    for (const TraceSpan& span : thread.spans) spans.push_back(span.window);
    out["spans"].push_back(spans);
  }
  return out;
}

void sampling_from_json(const json& from, Trace& trace) {
  if (from.at("version") != 1) throw std::runtime_error("it is of a newer version of effort");
  std::vector<TraceWindow> windows;
  for (const json& window : from.at("windows")) windows.push_back(window_from(window));
  for (const json& list : from.at("spans")) {
    const auto at = std::find_if(trace.threads.begin(), trace.threads.end(), [&](const TraceThread& thread) {
      return thread.rank == list.at(0) && thread.thread == list.at(1);
    });
    if (at == trace.threads.end() || at->spans.size() + 2 != list.size())
      throw std::runtime_error("rank " + list.at(0).dump() + " has other intervals than it says");
    for (std::size_t i = 0; i < at->spans.size(); ++i) {
      at->spans[i].window = list.at(i + 2);
      if (at->spans[i].window >= windows.size()) throw std::runtime_error("there is no such window");
      if (KeptRank* const kept = windows[at->spans[i].window].find(at->rank)) kept->events = true;
    }
  }
  trace.windows = std::move(windows);
  trace.name = from.at("name");
  trace.job = from.at("job");
  trace.recorder = from.at("recorder");
  trace.n_ranks = from.at("ranks");
  trace.n_nodes = from.at("nodes");
  trace.design = from.at("design");
  trace.guide = from.at("guide");
  trace.confidence = from.at("confidence");
  trace.error = from.at("error");
  trace.bound = {from.at("relative_ppm"), from.at("absolute_ns")};
  trace.clock_bound_ns = from.at("clock_bound_ns");
  trace.dropped_steps = from.at("dropped_steps");
}

}  // namespace effort::tools
