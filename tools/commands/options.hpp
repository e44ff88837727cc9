// The options of the subcommands.
#pragma once

#include <CLI/CLI.hpp>

namespace effort::tools {

/// Adds all subcommands to the parser, which runs the one that it finds when it has read the arguments.
void add_commands(CLI::App& app);

/// What a TRACE argument may be.
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
