// effort trace reduce TRACE --method NAME[:T] | --all | --thresholds
#include <string>
#include <vector>

#include "analytics/reduction/methods.hpp"
#include "analytics/reduction/reduction.hpp"
#include "record/text.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/named_trace.hpp"
#include "tools/communication/record.hpp"
#include "tools/output/output.hpp"
#include "tools/output/terminal.hpp"
#include "tools/reduction/reduction_output.hpp"
#include "tools/trace/analysis/messages.hpp"

namespace effort::tools {

namespace {

std::vector<reduction::Method> methods_of(const TraceReduceArguments& a) {
  if (!a.all && !a.thresholds) {
    const auto method = reduction::method_from(a.method);
    if (method) return {*method};
    std::string names;
    for (std::size_t i = 0; i < reduction::n_similarities; ++i)
      names += (i > 0 ? ", " : "") + std::string(reduction::similarity_text(static_cast<reduction::Similarity>(i)));
    throw UsageError("--method '" + record::visible(a.method) +
                     "' is not a method, or its threshold is not positive: give " + names +
                     ", all but iter_avg optionally with :THRESHOLD");
  }
  std::vector<reduction::Method> out;
  for (std::size_t i = 0; i < reduction::n_similarities; ++i) {
    const auto similarity = static_cast<reduction::Similarity>(i);
    if (a.thresholds)
      for (const double threshold : reduction::studied_thresholds(similarity)) out.push_back({similarity, threshold});
    else
      out.push_back({similarity, reduction::default_threshold(similarity)});
  }
  return out;
}

}  // namespace

void run_trace_reduce(const TraceReduceArguments& a) {
  const std::vector<reduction::Method> methods = methods_of(a);
  std::vector<bool> loops;
  const CommunicationTrace communication = [&] {
    const Trace trace = read_named_trace(a.trace, a.raw_names, a.module_paths);
    for (const TraceRegion& region : trace.regions) loops.push_back(region.loop);
    return communication_of(trace, match_messages(trace));
  }();
  loops.resize(communication.record.regions.size(), false);
  const SegmentChoice choice = choose_segments(communication.record, a.segments, loops);
  reduction::Reducer reducer(communication.record, choice.segments);
  std::vector<reduction::Reduced> all;
  for (const reduction::Method& method : methods) all.push_back(reducer.reduce(method));
  if (a.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const reduction::Reduced& r : all) list.push_back(reduced_json(communication.record, choice, reducer, r));
    a.all || a.thresholds ? print_json({{"methods", std::move(list)}}) : print_json(list[0]);
    return;
  }
  print_fitted(reduced_text(communication.record, choice, reducer, all));
}

}  // namespace effort::tools
