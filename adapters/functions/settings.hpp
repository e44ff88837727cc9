// The settings of a recording, from environment variables only: hooks run before main.
#pragma once

#include <cstddef>
#include <cstdint>

namespace effort::functions {

struct Settings {
  bool on = false;
  bool all_modules = false;       ///< not only the main program
  const char* modules = nullptr;  ///< list of patterns of modules' base names; null: none given
  const char* names = nullptr;    ///< list of patterns of functions' names; null: none given
  std::uint32_t depth = 0;        ///< the deepest calls that are recorded; 0: no limit
  std::uint64_t least_ns = 0;     ///< for which Thread::look_every events must last; 0: functions are never too hot
};
Settings read_settings();

/// Whether the base name of a path matches one of the comma-separated patterns (fnmatch).
bool matches_any(const char* patterns, const char* path);

/// Whether a name matches one of the patterns, if there are any without '-' in front, and none of those with '-'.
bool passes_filter(const char* patterns, const char* name);

/// The absolute path of this process's recording; makes its directory.  False if that fails, or the path is too long.
bool make_path(char* path, std::size_t bytes);

/// In MPI_COMM_WORLD, as the launcher told the process; -1 if it did not.
std::int64_t rank_of_process();

}  // namespace effort::functions
