// `effort trace info`: for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/output/terminal.hpp"
#include "tools/trace/analysis/calls.hpp"
#include "tools/trace/analysis/messages.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// The trace and the findings about it.
struct TraceFindings {
  const Trace& trace;
  const TraceMessages& messages;
  const CallEstimates& calls;
};

/// One object, with the documented keys.
nlohmann::ordered_json trace_info_json(const TraceFindings& findings);

/// The answer in sentences, then tables of windows and call paths, then the limits on their accuracy.
/// @param all  every window and call path instead of one screen
std::string trace_info_text(const TraceFindings& findings, bool all, const Terminal& terminal);

/// The limits on the accuracy, a sentence each.
std::vector<std::string> trust_sentences(const TraceFindings& findings);

/// The names of a set of reasons, the most important first: sample, medoid, ...
std::vector<std::string> reason_names(std::uint16_t reasons);

}  // namespace effort::tools
