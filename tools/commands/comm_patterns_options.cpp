// The options of `effort comm patterns|phases|diff`.
#include <memory>

#include "tools/commands/commands.hpp"
#include "tools/commands/options.hpp"

namespace effort::tools {

namespace {

/// Options after the traces.
void add_common(CLI::App& command, CommPatternsArguments& a) {
  command
      .add_option("--symbols", a.symbols,
                  "which instances belong to one pattern: relative (the same communication among other ranks), or "
                  "absolute (the same ranks and functions)")
      ->check(CLI::IsMember({"relative", "absolute"}));
  command.add_option("--module-path", a.module_paths,
                     "directory or file of a program or library that call paths point into (repeatable)");
  command.add_flag("--raw-names", a.raw_names, "leave call paths as they are in the file");
  command.add_flag("--all", a.all, "everything instead of one screen");
  command.add_flag("--json", a.json, "print one JSON object");
}

void add_phase_options(CLI::App& command, CommPatternsArguments& a) {
  command.add_option("--criterion", a.criterion, "criterion for cutting a phase: AIC, or BIC for fewer phases")
      ->check(CLI::IsMember({"AIC", "BIC"}));
  command.add_option("--length", a.length, "phases with fewer instances are not cut");
}

void add_cutoff(CLI::App& command, CommPatternsArguments& a) {
  command.add_option("--cutoff", a.cutoff, "modified Z-score above which an instance is slow")->check(not_negative());
}

}  // namespace

void add_comm_patterns(CLI::App& comm) {
  auto a = std::make_shared<CommPatternsArguments>();
  CLI::App* command = comm.add_subcommand(
      "patterns", "Finds and names recurring communication, and shows which instances were slow, and why");
  command->add_option("TRACE", a->input, trace_help)->required();
  add_common(*command, *a);
  add_cutoff(*command, *a);
  command->callback([a] { run_comm_patterns(*a); });
}

void add_comm_phases(CLI::App& comm) {
  auto a = std::make_shared<CommPatternsArguments>();
  CLI::App* command = comm.add_subcommand("phases", "Cuts the run where its communication patterns change");
  command->add_option("TRACE", a->input, trace_help)->required();
  add_common(*command, *a);
  add_phase_options(*command, *a);
  command->add_option("--depth", a->depth, "levels of the tree of cuts; default: all");
  add_cutoff(*command, *a);
  command->callback([a] { run_comm_phases(*a); });
}

void add_comm_diff(CLI::App& comm) {
  auto a = std::make_shared<CommDiffArguments>();
  CLI::App* command = comm.add_subcommand(
      "diff", "Compares the communication of two runs: changed waits and patterns, and aligned phases");
  command->add_option("A", a->input, trace_help)->required();
  command->add_option("B", a->other, "the other run, in any of the same forms")->required();
  add_common(*command, *a);
  add_phase_options(*command, *a);
  command->add_option("--depth", a->depth, "levels of the trees of cuts")->check(CLI::Range(0, 12));
  command->callback([a] { run_comm_diff(*a); });
}

}  // namespace effort::tools
