// The files that the command reads, none of which an output may replace.
//
// Those that the command line names are counted before the command begins; whoever finds others, such as the files of a
// directory or the program of a run, counts them before it reads them.  One thread may use these functions at a time.
#pragma once

#include <filesystem>

namespace effort::tools {

/// Whether two paths lead to one file, through symbolic and hard links too; of files that do not exist yet, by name.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Counts a file or directory among the inputs; nothing if it does not exist.
void count_as_input(const std::filesystem::path& path);

/// Forgets them all, before another command runs in the same process.
void forget_inputs();

/// Errors: UsageError if `output` is an input, under any of its names.  Files in a directory are asked about one by
/// one.
void refuse_input(const std::filesystem::path& output);

}  // namespace effort::tools
