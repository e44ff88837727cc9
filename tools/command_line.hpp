// The `effort` command as a function.
#pragma once

namespace effort::tools {

/// Runs the command that the arguments name, and reports errors on standard error.
/// @return the exit status: 0 success, 1 bad data, 2 bad arguments, 3 a check that does not hold
int run_command(int argc, const char* const* argv);

}  // namespace effort::tools
