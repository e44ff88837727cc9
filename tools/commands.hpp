// The subcommands of `effort`.  Each function adds one to the parser; what it does runs when the parser has read
// the arguments.  Errors leave as exceptions: UsageError ends the program with 2, any other with 1.
#pragma once

#include <CLI/CLI.hpp>

#include <stdexcept>

namespace effort::tools {

/// Arguments that are well-formed but make no sense.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

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
