// The files that the command reads, none of which an output may replace.
//
// Files named on the command line are counted before the command runs.  Code that finds further files, such as those in
// a directory or the program of a run, counts them before it reads them.  Not thread-safe.
#pragma once

#include <filesystem>

namespace effort::tools {

/// Whether two paths lead to one file, through symbolic and hard links too; of files that do not exist yet, by name.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Counts a file or directory among the inputs; nothing if it does not exist.
void count_as_input(const std::filesystem::path& path);

/// Forgets them all, before another command runs in the same process.
void forget_inputs();

/// Errors: UsageError if `output` is an input, under any of its names.  The files in a directory must be checked one by
/// one.
void refuse_input(const std::filesystem::path& output);

}  // namespace effort::tools
