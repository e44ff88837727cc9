// The options of `effort calls`.
#include <memory>

#include "tools/commands/commands.hpp"
#include "tools/commands/options.hpp"

namespace effort::tools {

namespace {

void add_calls_encode(CLI::App& app) {
  auto a = std::make_shared<CallsEncodeArguments>();
  CLI::App* command =
      app.add_subcommand("encode", "Compresses streams of function calls; parts in common are stored once");
  command
      ->add_option(
          "IN", a->inputs,
          "recordings of libeffort_functions (.rec, or their directory), or raw streams, one per thread or "
          "rank, in the order of ranks: little-endian ids, that of a function at its entry and 0 at its return")
      ->required();
  command->add_option("--width", a->width, "bytes per id of raw streams")
      ->capture_default_str()
      ->check(CLI::IsMember({2, 4}));
  command->add_option("-o", a->out, "file to write (.calls)")->required()->type_name(output_type);
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_calls_encode(*a); });
}

void add_calls_decode(CLI::App& app) {
  auto a = std::make_shared<CallsDecodeArguments>();
  CLI::App* command = app.add_subcommand("decode", "Expands coded calls into raw streams, one after the other");
  command->add_option("IN", a->in, "file of coded calls (.calls)")->required();
  command->add_option("OUT", a->out, "file to write")->required()->type_name(output_type);
  command->add_option("--stream", a->stream, "only this stream, counted from 0");
  command->add_option("--width", a->width, "bytes per id (by default as in the encoded streams)")
      ->check(CLI::IsMember({2, 4}));
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_calls_decode(*a); });
}

const char* const calls_input_help =
    "recordings of libeffort_functions (.rec, or their directory), files of `effort calls encode`, or raw streams";

template <typename Arguments>
void add_recordings(CLI::App& command, Arguments& a) {
  command.add_option("--width", a.width, "bytes per id of raw streams")->check(CLI::IsMember({2, 4}));
  command.add_option("--module-path", a.module_paths,
                     "directory or file of a program or library whose functions were called (repeatable)");
  command.add_flag("--json", a.json, "print one JSON object");
}

void add_calls_info(CLI::App& app) {
  auto a = std::make_shared<CallsInfoArguments>();
  CLI::App* command = app.add_subcommand(
      "info", "Counts calls by function and by stack, and shows the calls that were open at the end of each stream");
  command->add_option("IN", a->inputs, calls_input_help)->required();
  add_recordings(*command, *a);
  command->add_option("--rank", a->rank, "only the streams of this rank");
  command->add_option("--by", a->by, "also the calls of each rank, or of each thread")
      ->check(CLI::IsMember({"rank", "thread"}));
  command->add_option("--folded", a->folded, "file to write: a line of each stack, for flame graph tools")
      ->type_name(output_type);
  command->add_option("--folded-time", a->folded_time, "the same with microseconds instead of calls")
      ->type_name(output_type);
  command->add_flag("--all", a->all, "everything instead of one screen");
  command->callback([a] { run_calls_info(*a); });
}

void add_calls_graph(CLI::App& app) {
  auto a = std::make_shared<CallsInfoArguments>();
  CLI::App* command =
      app.add_subcommand("graph", "Writes the call graph, with loops, for Graphviz (DOT) or as JSON (--json)");
  command->add_option("IN", a->inputs, calls_input_help)->required();
  add_recordings(*command, *a);
  command->add_option("--rank", a->rank, "only the streams of this rank");
  command->add_option("-o", a->out, "file to write (by default standard output)")->type_name(output_type);
  command->callback([a] { run_calls_graph(*a); });
}

void add_calls_diff(CLI::App& app) {
  auto a = std::make_shared<CallsDiffArguments>();
  CLI::App* command = app.add_subcommand(
      "diff", "Finds the first call in which two ranks or runs differ, and loops with different numbers of iterations");
  command->add_option("A", a->a, calls_input_help)->required();
  command->add_option("B", a->b, "the other run or ranks, in any of the same forms")->required();
  add_recordings(*command, *a);
  command->add_option("--ranks", a->ranks, "one rank of A and one of B (by default all ranks that both have)")
      ->delimiter(',')
      ->expected(2);
  command->add_flag("--all", a->all, "more of every stream, instead of the first three that differ");
  command->callback([a] { run_calls_diff(*a); });
}

void add_calls_names(CLI::App& app) {
  auto a = std::make_shared<CallsNamesArguments>();
  CLI::App* command =
      app.add_subcommand("names", "Lists the functions of source files, as EFFORT_FUNCTIONS_FILTER takes them");
  command->add_option("PROGRAM", a->programs, "programs and libraries, compiled with -g")->required();
  command
      ->add_option("--file", a->files,
                   "patterns of paths or base names of source files, separated by commas, such as 'pair_*.cpp'")
      ->delimiter(',')
      ->required();
  command->add_flag("--leave-out", a->leave_out, "leave these functions out, instead of recording only them");
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_calls_names(*a); });
}

}  // namespace

void add_calls(CLI::App& app) {
  CLI::App* command = app.add_subcommand("calls", "Codes and shows the function calls of programs");
  command->require_subcommand(1);
  add_calls_encode(*command);
  add_calls_decode(*command);
  add_calls_info(*command);
  add_calls_graph(*command);
  add_calls_diff(*command);
  add_calls_names(*command);
}

}  // namespace effort::tools
