#include "analytics/reduction/window_reducer.hpp"
#include "analytics/sampling/kept_ranks.hpp"
#include "analytics/trace/coder.hpp"
#include "record/trace/writer.hpp"
#include "traces.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace effort::tools::test {

namespace file = record::trace;

namespace {

file::Header header_of(const Trace& trace, std::int32_t node) {
  file::Header out;
  out.library = "0.1.0";
  out.name = trace.name;
  out.job = trace.job;
  out.design = trace.design;
  out.guide = trace.guide;
  out.clock = "CLOCK_MONOTONIC of node 0";
  out.n_ranks = trace.n_ranks;
  out.n_nodes = trace.n_nodes;
  out.confidence = trace.confidence;
  out.error = trace.error;
  out.bound = trace.bound;
  out.reduction = trace.reduction;
  out.nodes.push_back({node, {}});
  for (const auto& [rank, at] : trace.node_of)
    if (at == node) out.nodes[0].ranks.push_back(rank);
  return out;
}

file::Names names_of(const Trace& trace) {
  file::Names out;
  std::uint32_t id = 0;
  for (const TraceRegion& region : trace.regions)
    out.regions.push_back({id++, region.kind, region.parent, region.name});
  id = 0;
  for (const std::string& phase : trace.phases) out.phases.push_back({id++, phase});
  id = 0;
  for (const std::string& unit : trace.units) out.units.push_back({id++, unit});
  id = 0;
  for (const TraceCommunicator& c : trace.communicators)
    out.communicators.push_back({id++, c.name, c.members, c.remote});
  return out;
}

file::Window window_of(const Trace& trace, const TraceWindow& window, std::int32_t node, std::int64_t offset) {
  file::Window out;
  out.node = node;
  out.window = window.ordinal;
  out.first_step = window.first_step;
  out.last_step = window.last_step;
  out.start_ns = window.start_ns - offset;
  out.end_ns = window.end_ns - offset;
  out.error = window.error;
  out.confidence = window.confidence;
  out.strata = window.strata;
  for (const KeptRank& kept : window.ranks)
    if (trace.node(kept.rank) == node)
      out.ranks.push_back(
          {kept.rank, kept.reasons, kept.probability, kept.stratum, kept.dropped_steps, kept.dropped_events});
  if (window.region_seconds && node == 0) {
    out.region_sums.emplace();
    for (const auto& [region, seconds] : *window.region_seconds)
      out.region_sums->push_back(
          {region, static_cast<std::int64_t>(1e9 * seconds + 0.5),
           window.region_calls ? static_cast<std::int64_t>(window.region_calls->at(region)) : -1});
  }
  return out;
}

}  // namespace

void write_files(const Trace& trace, const std::filesystem::path& directory, std::int64_t offset_ns) {
  for (std::int32_t node = 0; node < trace.n_nodes; ++node) {
    const std::int64_t offset = node == 1 ? offset_ns : 0;
    file::Writer writer(directory / file::file_name(node), header_of(trace, node));
    writer.append(names_of(trace));
    if (node > 0) writer.append(file::Clock{node, 0, offset, 40});
    trace::Encoder encoder(trace.bound);
    std::optional<reduction::WindowReducer> reducer;
    if (!trace.reduction.empty()) reducer.emplace(*reduction::method_from(trace.reduction));
    const std::vector<OpenTrace> without_end = trace.without_end.value_or(std::vector<OpenTrace>{});
    const auto open =
        std::find_if(without_end.begin(), without_end.end(), [&](const auto& o) { return o.node == node; });
    for (std::size_t w = 0; w < trace.windows.size(); ++w) {
      if (open != without_end.end() && trace.windows[w].last_step > open->last_step) break;
      const file::Window window = window_of(trace, trace.windows[w], node, offset);
      writer.append(window);
      for (const TraceThread& thread : trace.threads) {
        if (trace.node(thread.rank) != node) continue;
        for (const TraceSpan& span : thread.spans) {
          if (span.window != w) continue;
          std::vector<TraceEvent> events(thread.events.begin() + static_cast<std::ptrdiff_t>(span.first),
                                         thread.events.begin() + static_cast<std::ptrdiff_t>(span.end));
          for (TraceEvent& event : events) event.time_ns -= offset;
          const trace::Place place{thread.rank, thread.thread, window.first_step, window.start_ns};
          const KeptRank* const kept = trace.windows[w].find(thread.rank);
          reduction::WindowReducer::Plan plan;
          if (reducer && kept != nullptr && sampling::stands_for_others(kept->reasons))
            plan = reducer->plan(place, events, window.end_ns);
          const bool reduced = !plan.representatives.empty();
          trace::Encoder::Reduced out;
          if (reduced)
            out = encoder.encode_reduced(place, events, window.end_ns,
                                         {plan.representatives, plan.added, plan.forgotten});
          else
            out.coded = encoder.encode(place, events);
          const auto& coded = out.coded;
          if (!coded.dictionary.empty()) writer.append(file::Dictionary{node, coded.dictionary});
          if (!out.representatives.empty()) writer.append(file::Representatives{node, out.representatives});
          writer.append(
              file::Events{node, window.window, thread.rank, thread.thread, events.size(), coded.events, reduced});
        }
      }
    }
    if (open == without_end.end())
      writer.append(file::End{node, trace.windows.empty() ? 0 : trace.windows.back().last_step + 1});
  }
}

}  // namespace effort::tools::test
