// The options of `effort comm`.
#include <memory>

#include "tools/commands/commands.hpp"
#include "tools/commands/options.hpp"

namespace effort::tools {

namespace {

const char* const comm_input_help =
    "directory NAME-JOB.trace, one of its node-*.trc files, an OTF2 archive (.otf2) of any tool, or a snapshot";

/// The options that all analyses have.
void add_common(CLI::App& command, CommArguments& a, const char* input, const char* help) {
  command.add_option(input, a.input, help)->required();
  command.add_option("--module-path", a.module_paths,
                     "directory or file of a program or library that call paths point into (repeatable)");
  command.add_flag("--raw-names", a.raw_names, "leave call paths as they are in the file");
  command.add_flag("--all", a.all, "everything instead of one screen");
  command.add_flag("--json", a.json, "print one JSON object");
}

void add_waits(CLI::App& app) {
  auto a = std::make_shared<CommWaitsArguments>();
  CLI::App* command = app.add_subcommand(
      "waits", "Shows which ranks waited for which, where and why: wait states, their causes, and the critical path");
  add_common(*command, *a, "TRACE", comm_input_help);
  command->add_option("--steps", a->steps, "only the windows of a trace that contain any of the steps A-B, or step A");
  command->callback([a] { run_comm_waits(*a); });
}

void add_pairs(CLI::App& app) {
  auto a = std::make_shared<CommPairsArguments>();
  CLI::App* command = app.add_subcommand(
      "pairs", "Shows which ranks communicate most, and clusters them by the time that they spend on each other");
  add_common(*command, *a, "TRACE", comm_input_help);
  command->add_option("--linkage", a->linkage, "linkage of the dendrogram")
      ->capture_default_str()
      ->check(CLI::IsMember({"single", "average"}));
  command
      ->add_option("--pair", a->pair,
                   "two ranks A,B of a trace: their messages by size and time, the cost per byte, call paths, and "
                   "small messages that could be combined")
      ->delimiter(',')
      ->expected(2);
  command->callback([a] { run_comm_pairs(*a); });
}

void add_matrix(CLI::App& app) {
  auto a = std::make_shared<CommArguments>();
  CLI::App* command =
      app.add_subcommand("matrix", "Lists messages, bytes and seconds by sender, receiver and call path");
  add_common(*command, *a, "TRACE", comm_input_help);
  command->callback([a] { run_comm_matrix(*a); });
}

}  // namespace

void add_comm(CLI::App& app) {
  CLI::App* command = app.add_subcommand("comm", "Analyses the communication of a run");
  command->require_subcommand(1);
  add_waits(*command);
  add_pairs(*command);
  add_matrix(*command);
  add_comm_patterns(*command);
  add_comm_phases(*command);
  add_comm_diff(*command);
}

}  // namespace effort::tools
