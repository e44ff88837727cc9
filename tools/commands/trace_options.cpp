// The options of `effort trace`.
#include <memory>

#include "tools/commands/commands.hpp"
#include "tools/commands/options.hpp"

namespace effort::tools {

const char* const trace_help =
    "directory NAME-JOB.trace, one of its node-*.trc files, or an OTF2 archive (.otf2) of any tool";

namespace {

void add_trace_info(CLI::App& app) {
  auto a = std::make_shared<TraceInfoArguments>();
  CLI::App* command = app.add_subcommand(
      "info", "Shows what was kept and why, and estimates the calls of all ranks, with confidence intervals");
  command->add_option("TRACE", a->trace, trace_help)->required();
  command->add_option("--module-path", a->module_paths,
                      "directory or file of a program or library that call paths point into (repeatable)");
  command->add_flag("--raw-names", a->raw_names, "leave call paths as they are in the trace");
  command->add_flag("--all", a->all, "every window and call path instead of one screen");
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_trace_info(*a); });
}

void add_trace_export(CLI::App& app) {
  auto a = std::make_shared<TraceExportArguments>();
  CLI::App* command = app.add_subcommand("export", "Writes a trace in a format that other programs read");
  command->add_option("TRACE", a->trace, trace_help)->required();
  command->add_option("--module-path", a->module_paths,
                      "directory or file of a program or library that call paths point into (repeatable)");
  command->add_flag("--raw-names", a->raw_names, "leave call paths as they are in the trace");
  command
      ->add_option("--format", a->format,
                   "otf2: a directory with traces.otf2, for Vampir, otf2-print, python3-otf2; perfetto: for "
                   "ui.perfetto.dev; csv: one line per event")
      ->required()
      ->check(CLI::IsMember({"otf2", "perfetto", "csv"}));
  command->add_option("-o", a->out, "file (otf2: directory) to write")->required()->type_name(output_type);
  command
      ->add_option("--part-bytes", a->part_bytes,
                   "perfetto: continue in OUT.2, OUT.3, ... before a file exceeds this size")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1} << 16, std::uint64_t{1} << 40));
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_trace_export(*a); });
}

void add_trace_reduce(CLI::App& app) {
  auto a = std::make_shared<TraceReduceArguments>();
  CLI::App* command = app.add_subcommand(
      "reduce", "Finds repeated segments, and shows what is lost if only one of several similar ones is kept");
  command->add_option("TRACE", a->trace, trace_help)->required();
  CLI::Option* const method = command->add_option(
      "--method", a->method,
      "NAME or NAME:THRESHOLD: relDiff, absDiff (ns), Manhattan, Euclidean, Chebyshev, iter_k, iter_avg, avgWave, "
      "haarWave, or bounded: the share of a rank's waiting that may be lost");
  method->capture_default_str();
  CLI::Option* const all = command->add_flag("--all", a->all, "all methods, with their default thresholds");
  command->add_flag("--thresholds", a->thresholds, "all methods, each with several thresholds")
      ->excludes(all)
      ->excludes(method);
  all->excludes(method);
  command
      ->add_option("--segment", a->segments,
                   "regions whose calls are segments, separated by commas (by default loop iterations if the trace "
                   "marks them, else steps)")
      ->delimiter(',');
  command->add_option("--module-path", a->module_paths,
                      "directory or file of a program or library that call paths point into (repeatable)");
  command->add_flag("--raw-names", a->raw_names, "leave call paths as they are in the trace");
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_trace_reduce(*a); });
}

}  // namespace

void add_trace(CLI::App& app) {
  CLI::App* command = app.add_subcommand("trace", "Shows and exports the events of sampled ranks");
  command->require_subcommand(1);
  add_trace_info(*command);
  add_trace_export(*command);
  add_trace_reduce(*command);
}

}  // namespace effort::tools
