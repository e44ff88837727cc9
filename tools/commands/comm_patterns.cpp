// effort comm patterns|phases TRACE; effort comm diff A B
#include "tools/commands/commands.hpp"
#include "tools/commands/named_trace.hpp"
#include "tools/communication/diff_output.hpp"
#include "tools/communication/patterns_output.hpp"
#include "tools/communication/record.hpp"
#include "tools/output/output.hpp"
#include "tools/output/terminal.hpp"
#include "tools/trace/analysis/messages.hpp"

namespace effort::tools {

namespace {

/// The trace itself is freed, because a record of many events needs the memory.
CommunicationTrace read_communication(const CommPatternsArguments& a, const std::string& path) {
  const Trace trace = read_named_trace(path, a.raw_names, a.module_paths);
  return communication_of(trace, match_messages(trace));
}

PatternOptions options_of(const CommPatternsArguments& a) {
  PatternOptions options;
  if (a.symbols == "absolute") options.symbols = communication::Symbols::absolute;
  if (a.criterion == "BIC") options.phases.criterion = communication::Criterion::bic;
  if (a.depth) options.phases.depth = *a.depth;
  options.phases.length = a.length;
  options.cutoff = a.cutoff;
  return options;
}

}  // namespace

void run_comm_patterns(const CommPatternsArguments& a) {
  const CommunicationTrace trace = read_communication(a, a.input);
  const PatternFindings findings(trace.record, options_of(a));
  a.json ? print_json(patterns_json(findings, trace.notes)) : print_fitted(patterns_text(findings, trace.notes, a.all));
}

void run_comm_phases(const CommPatternsArguments& a) {
  const CommunicationTrace trace = read_communication(a, a.input);
  const PatternFindings findings(trace.record, options_of(a));
  a.json ? print_json(phases_json(findings, trace.notes))
         : print_fitted(phases_text(findings, trace.notes, a.all, a.depth.has_value()));
}

void run_comm_diff(const CommDiffArguments& a) {
  PatternOptions options = options_of(a);
  if (!a.depth) options.phases.depth = shown_depth;
  const CommunicationSide side_a(read_communication(a, a.input), options);
  const CommunicationSide side_b(read_communication(a, a.other), options);
  const CommunicationDiff diff(side_a, side_b);
  a.json ? print_json(diff_json(diff)) : print_fitted(diff_text(diff, a.all));
}

}  // namespace effort::tools
