// effort trace info TRACE; effort trace export TRACE --format otf2|perfetto|csv -o OUT
#include <unistd.h>

#include <cstdio>
#include <string>

#include "record/text.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/named_trace.hpp"
#include "tools/output/output.hpp"
#include "tools/output/terminal.hpp"
#include "tools/trace/analysis/calls.hpp"
#include "tools/trace/analysis/messages.hpp"
#include "tools/trace/export/export.hpp"
#include "tools/trace/info/info.hpp"
#include "tools/trace/input/read.hpp"

namespace effort::tools {

namespace {

TraceExported write(const Trace& trace, const TraceMessages& messages, const TraceExportArguments& a) {
  if (a.format == "csv") return export_trace_csv(trace, messages, a.out);
  if (a.format == "perfetto") return export_trace_perfetto(trace, messages, a.out, a.part_bytes);
  return export_trace_otf2(trace, messages, a.out);
}

}  // namespace

void run_trace_info(const TraceInfoArguments& a) {
  const Trace trace = read_named_trace(a.trace, a.raw_names, a.module_paths);
  const TraceMessages messages = match_messages(trace);
  const CallEstimates calls = estimate_calls(trace);
  const TraceFindings findings{trace, messages, calls};
  if (a.json) {
    print_json(trace_info_json(findings));
    return;
  }
  const Terminal terminal = terminal_of(STDOUT_FILENO);
  const std::string text = fitted(trace_info_text(findings, a.all, terminal), terminal);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void run_trace_export(const TraceExportArguments& a) {
  if (a.format == "otf2" && !otf2_available())
    throw UsageError(
        "effort was built without OTF2, which --format otf2 needs: install libopen-trace-format2-dev and build "
        "it again, or give perfetto or csv");
  const Trace trace = read_named_trace(a.trace, a.raw_names, a.module_paths);
  const TraceMessages messages = match_messages(trace);
  const TraceExported done = write(trace, messages, a);
  const std::uint64_t halves = messages.unmatched_sends + messages.unmatched_receives;
  if (a.json) {
    print_json({{"events", done.events},
                {"messages", done.messages},
                {"left_out", halves},
                {"paths", done.paths},
                {"notes", trace.notes}});
    return;
  }
  if (a.format != "csv" && halves > 0)
    std::fprintf(stderr, "effort: %s of messages whose other end is not in the trace %s left out\n",
                 count_text(halves, "record").c_str(), halves == 1 ? "is" : "are");
  if (done.collectives_left_out > 0)
    std::fprintf(stderr, "effort: %s left out, because the program has prepared several kinds of them\n",
                 (count_text(done.collectives_left_out, "start") + " of persistent collectives " +
                  (done.collectives_left_out == 1 ? "is" : "are"))
                     .c_str());
  for (const std::string& note : trace.notes) std::fprintf(stderr, "effort: %s\n", record::visible(note).c_str());
}

}  // namespace effort::tools
