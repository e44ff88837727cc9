// The options of the subcommands.
#pragma once

#include <CLI/CLI.hpp>

namespace effort::tools {

/// Adds all subcommands to the parser, which runs the one that it finds when it has read the arguments.
void add_commands(CLI::App& app);

/// The type_name of options that name files to write.  A text argument without a type_name or list of words of its own
/// is taken for the name of an input, if such a file exists.
inline constexpr const char* output_type = "OUTPUT";

/// Counts the inputs that the arguments name (tools/files/inputs.hpp).
/// @throws UsageError if an output is one of them, or two outputs are one file
void check_outputs(const CLI::App& app);

/// Validators of numbers.  Those of the library name the largest representable number in their messages.
CLI::Validator positive();
CLI::Validator not_negative();

/// The help text of TRACE arguments.
extern const char* const trace_help;

/// `effort trace`, with its subcommands.
void add_trace(CLI::App& app);

/// `effort comm`, with its subcommands.
void add_comm(CLI::App& app);
void add_comm_patterns(CLI::App& comm);
void add_comm_phases(CLI::App& comm);
void add_comm_diff(CLI::App& comm);

/// `effort calls`, with its subcommands.
void add_calls(CLI::App& app);

}  // namespace effort::tools
