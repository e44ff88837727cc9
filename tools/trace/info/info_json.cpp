#include "tools/output/output.hpp"
#include "tools/trace/info/info.hpp"

namespace effort::tools {

using nlohmann::ordered_json;

namespace {

ordered_json kept_json(const Trace& trace) {
  ordered_json out = ordered_json::array();
  for (const TraceWindow& window : trace.windows) {
    for (const KeptRank& kept : window.ranks) {
      const std::vector<std::string> reasons = reason_names(kept.reasons);
      out.push_back({{"rank", kept.rank},
                     {"first_step", window.first_step},
                     {"last_step", window.last_step},
                     {"why", reasons.empty() ? ordered_json(nullptr) : ordered_json(reasons[0])},
                     {"probability", kept.probability},
                     {"reasons", reasons},
                     {"window", window.ordinal},
                     {"stratum", kept.stratum},
                     {"dropped_steps", kept.dropped_steps},
                     {"lost", kept.lost},
                     {"rebuilt", kept.rebuilt}});
    }
  }
  return out;
}

/// What TRACE_REDUCE left out; null if it was off.
ordered_json reduced_json(const Trace& trace) {
  if (trace.reduction.empty()) return nullptr;
  const Trace::Rebuilding r = trace.rebuilding();
  return {{"method", trace.reduction},
          {"windows", r.spans},
          {"of_windows", r.of},
          {"steps", r.sum.steps},
          {"rebuilt_steps", r.sum.rebuilt},
          {"error90_ns", r.sum.error90_ns},
          {"largest_error_ns", r.sum.largest_error_ns}};
}

ordered_json windows_json(const Trace& trace) {
  ordered_json out = ordered_json::array();
  for (const TraceWindow& window : trace.windows) {
    ordered_json strata = ordered_json::array();
    for (const auto& stratum : window.strata)
      strata.push_back({{"population", stratum.population}, {"sample", stratum.sample}});
    out.push_back({{"window", window.ordinal},
                   {"first_step", window.first_step},
                   {"last_step", window.last_step},
                   {"start_ns", window.start_ns},
                   {"end_ns", window.end_ns},
                   {"error", known(window.error)},
                   {"confidence", known(window.confidence)},
                   {"strata", strata}});
  }
  return out;
}

/// Sampled ranks of each window.
ordered_json sizes_json(const Trace& trace) {
  ordered_json out = ordered_json::array();
  for (const TraceWindow& window : trace.windows) {
    std::size_t sampled = 0;
    for (const KeptRank& kept : window.ranks) sampled += kept.sampled() ? 1 : 0;
    out.push_back(sampled);
  }
  return out;
}

ordered_json calls_json(const TraceFindings& f) {
  const double confidence = f.trace.confidence;
  ordered_json out = ordered_json::array();
  for (const CallEstimate& call : f.calls.calls) {
    const auto error = [&](bool there, const sampling::Estimate& estimate) {
      return there ? known(estimate.half_width(confidence)) : ordered_json(nullptr);
    };
    out.push_back({{"path", call.path},
                   {"count", call.count.total},
                   {"count_error", error(call.counted, call.count)},
                   {"seconds", call.seconds.total},
                   {"seconds_error", error(call.timed, call.seconds)},
                   {"inclusive_seconds", call.inclusive.total},
                   {"inclusive_seconds_error", error(call.timed, call.inclusive)},
                   {"bytes", call.bytes.total},
                   {"bytes_error", error(call.sampled, call.bytes)},
                   {"seen", call.seen},
                   {"sampled", call.sampled},
                   {"counted", call.counted},
                   {"timed", call.timed}});
  }
  return out;
}

}  // namespace

std::vector<std::string> reason_names(std::uint16_t reasons) {
  std::vector<std::string> out;
  for (int i = 0; i < record::trace::n_reasons; ++i)
    if ((reasons & 1 << i) != 0) out.emplace_back(record::trace::reason_text(i));
  return out;
}

ordered_json trace_info_json(const TraceFindings& f) {
  const Trace& trace = f.trace;
  ordered_json out = {{"recorder", trace.recorder},
                      {"name", trace.name},
                      {"job", trace.job},
                      {"ranks", trace.n_ranks},
                      {"nodes", trace.n_nodes},
                      {"design", trace.design},
                      {"guide", trace.guide},
                      {"confidence", trace.confidence},
                      {"error", trace.error > 0 ? ordered_json(trace.error) : ordered_json(nullptr)}};
  out["reduced"] = reduced_json(trace);
  out["kept"] = kept_json(trace);
  out["sample_sizes"] = sizes_json(trace);
  out["windows"] = windows_json(trace);
  out["dropped_steps"] = trace.dropped_steps;
  out["events"] = trace.events();
  out["bytes"] = trace.bytes;
  out["messages"] = f.messages.matched.size();
  out["unmatched"] = {{"sends", f.messages.unmatched_sends}, {"receives", f.messages.unmatched_receives}};
  out["clamped"] = {{"messages", f.messages.clamped}, {"largest_ns", f.messages.largest_clamp_ns}};
  out["clock_bound_ns"] = trace.clock_bound_ns < 0 ? ordered_json(nullptr) : ordered_json(trace.clock_bound_ns);
  out["time_bound"] = {{"relative_ppm", trace.bound.relative_ppm}, {"absolute_ns", trace.bound.absolute_ns}};
  out["damaged_chunks"] = trace.damaged_chunks;
  out["steps"] = trace.steps < 0 ? ordered_json(nullptr) : ordered_json(trace.steps);
  out["without_end"] = nullptr;
  if (trace.without_end) {
    out["without_end"] = ordered_json::array();
    for (const OpenTrace& open : *trace.without_end)
      out["without_end"].push_back({{"node", open.node}, {"last_step", open.last_step}});
  }
  out["sampled_windows"] = f.calls.windows;
  out["measured_windows"] = f.calls.measured;
  out["counted_windows"] = f.calls.counted;
  out["sampled_steps"] = f.calls.steps;
  out["calls"] = calls_json(f);
  out["notes"] = trace.notes;
  return out;
}

}  // namespace effort::tools
