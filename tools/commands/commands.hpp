// The subcommands of `effort`.  Each function adds one to the parser, which runs it when it has read the
// arguments.  Errors are exceptions: UsageError ends the program with 2, any other with 1.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/commands/usage_error.hpp"

namespace effort::tools {

void add_info(CLI::App& app);
void add_report(CLI::App& app);
void add_top(CLI::App& app);
void add_diff(CLI::App& app);
void add_export(CLI::App& app);
void add_encode(CLI::App& app);
void add_decode(CLI::App& app);
void add_cluster(CLI::App& app);
void add_sample_size(CLI::App& app);
void add_replay(CLI::App& app);

}  // namespace effort::tools
