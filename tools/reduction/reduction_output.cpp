#include "tools/reduction/reduction_output.hpp"

#include <algorithm>
#include <stdexcept>

#include "record/text.hpp"
#include "tools/output/output.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools {

using nlohmann::ordered_json;
using reduction::Reduced;
using reduction::Violation;
using Align = Table::Align;

namespace {

/// Whether a region is called so, with or without the regions around it and the call path behind it.
bool is_named(const std::string& region, const std::string& name) {
  const std::string plain = region.substr(0, region.find(" ["));
  const std::size_t slash = plain.rfind('/');
  return region == name || plain == name || (slash != std::string::npos && plain.substr(slash + 1) == name);
}

ordered_json totals_json(const communication::WaitTotals& totals) {
  ordered_json out = ordered_json::object();
  for (std::size_t c = 0; c < communication::n_causes; ++c)
    out[std::string(communication::cause_text(static_cast<communication::Cause>(c)))] = totals[c];
  return out;
}

double share(const Reduced& r) {
  return r.full_bytes == 0 ? 1 : static_cast<double>(r.size_bytes) / static_cast<double>(r.full_bytes);
}

std::string violation_text(const Violation& v) {
  return std::string(communication::cause_text(v.cause)) + " on rank " + std::to_string(v.rank) + ", " +
         seconds_text(1e-9 * static_cast<double>(v.full_ns)) + " -> " +
         seconds_text(1e-9 * static_cast<double>(v.reduced_ns));
}

std::string kept_text(const Reduced& r) {
  if (r.violations.empty()) return "retained";
  return count_text(r.violations.size(), "wait") + " wrong";
}

/// The method that retains all waits with the fewest bytes (the last one, if there are several); null if none does.
const Reduced* best_of(const std::vector<Reduced>& all) {
  const Reduced* best = nullptr;
  for (const Reduced& r : all)
    if (r.violations.empty() && (!best || r.size_bytes <= best->size_bytes)) best = &r;
  return best;
}

/// The number of segments of each context.
std::vector<std::uint64_t> executions(const reduction::Segments& segments) {
  std::vector<std::uint64_t> out(segments.contexts.size(), 0);
  for (const reduction::Segment& s : segments.segments) ++out[s.context];
  return out;
}

std::string region_of(const communication::Record& record, const reduction::Context& context) {
  return context.region == communication::none ? "" : record.regions[context.region];
}

/// What one method keeps of each context.
std::string contexts_text(const communication::Record& record, const SegmentChoice& choice, const Reduced& r) {
  Table table({{"context", Align::left}, {"segments"}, {"stored"}, {"region", Align::left}});
  const std::vector<std::uint64_t> of = executions(choice.segments);
  for (std::size_t c = 0; c < of.size(); ++c)
    if (of[c] > 0)
      table.add({choice.segments.contexts[c].name, std::to_string(of[c]), std::to_string(r.stored_of[c]),
                 name_text(region_of(record, choice.segments.contexts[c]))});
  return "\nSegments\n" + table.text();
}

}  // namespace

SegmentChoice choose_segments(const communication::Record& record, const std::vector<std::string>& names,
                              const std::vector<bool>& loops) {
  std::vector<bool> chosen(record.regions.size(), false);
  for (const std::string& name : names) {
    bool found = false;
    for (std::size_t r = 0; r < record.regions.size(); ++r) {
      if (!is_named(record.regions[r], name)) continue;
      chosen[r] = found = true;
    }
    if (!found)
      throw std::runtime_error("no region of the trace is called '" + record::visible(name) +
                               "': effort trace info lists its call paths");
  }
  if (names.empty()) chosen = loops;
  if (std::find(chosen.begin(), chosen.end(), true) == chosen.end()) {
    if (record.steps.empty())
      throw std::runtime_error(
          "the trace has no steps and marks no loop iterations, so it cannot be cut into segments: name the regions "
          "that are repeated with --segment");
    return {reduction::cut_at_steps(record), "steps"};
  }
  std::string what;
  for (std::size_t r = 0; r < chosen.size(); ++r)
    if (chosen[r]) what += (what.empty() ? "" : ", ") + name_text(record.regions[r]);
  return {reduction::cut_at_regions(record, chosen), what};
}

ordered_json reduced_json(const communication::Record& record, const SegmentChoice& choice,
                          const reduction::Reducer& reducer, const Reduced& r) {
  ordered_json contexts = ordered_json::array();
  const std::vector<std::uint64_t> of = executions(choice.segments);
  for (std::size_t c = 0; c < of.size(); ++c)
    if (of[c] > 0)
      contexts.push_back({{"name", choice.segments.contexts[c].name},
                          {"region", region_of(record, choice.segments.contexts[c])},
                          {"segments", of[c]},
                          {"stored", r.stored_of[c]}});
  ordered_json wrong = ordered_json::array();
  for (const Violation& v : r.violations)
    wrong.push_back({{"cause", communication::cause_text(v.cause)},
                     {"rank", v.rank},
                     {"full_ns", v.full_ns},
                     {"reduced_ns", v.reduced_ns}});
  return {{"method", reduction::method_text(r.method)},
          {"segments", r.segments},
          {"classes", r.classes},
          {"stored", r.stored},
          {"contexts", std::move(contexts)},
          {"degree", r.degree},
          {"full_bytes", r.full_bytes},
          {"size_bytes", r.size_bytes},
          {"distance90_ns", r.distance90_ns},
          {"violations", r.violations.size()},
          {"retained", r.violations.empty()},
          {"wrong", std::move(wrong)},
          {"waits_full", totals_json(reducer.waits())},
          {"waits", totals_json(r.waits)}};
}

std::string reduced_text(const communication::Record& record, const SegmentChoice& choice,
                         const reduction::Reducer& reducer, const std::vector<Reduced>& all) {
  double waiting = 0;
  for (const auto& ranks : reducer.waits())
    for (const std::int64_t ns : ranks) waiting += 1e-9 * static_cast<double>(ns);
  const Reduced* const best = best_of(all);
  const Reduced& told = best ? *best : all.front();
  std::string out = reduction::method_text(told.method) + " keeps " + std::to_string(told.stored) + " of " +
                    count_text(told.segments, "segment") + " (" + choice.what +
                    "): " + bytes_text(static_cast<double>(told.full_bytes)) + " become " +
                    bytes_text(static_cast<double>(told.size_bytes)) + ", " + percent_text(share(told)) + ".\n";
  if (waiting == 0)
    out += "No rank waits in this trace, so there are no waits to retain.\n";
  else if (best)
    out += "All waits are retained, of " + seconds_text(waiting) + " in all.\n";
  else if (all.size() > 1)
    out += "No method retains all waits.\n";
  else
    out += "Not all waits are retained: " + violation_text(told.violations.front()) + ".\n";
  Table table(
      {{"method", Align::left}, {"stored"}, {"degree"}, {"size"}, {"90 % of stamps within"}, {"waits", Align::left}});
  for (const Reduced& r : all)
    table.add({reduction::method_text(r.method), std::to_string(r.stored), percent_text(r.degree),
               percent_text(share(r)), seconds_text(1e-9 * static_cast<double>(r.distance90_ns)), kept_text(r)});
  return out + "\nMethods\n" + table.text() + (all.size() == 1 ? contexts_text(record, choice, all[0]) : "");
}

}  // namespace effort::tools
