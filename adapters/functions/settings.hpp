// The settings of a recording, from environment variables only, because hooks run before main.
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
  std::uint32_t stamp_every = 0;  ///< one call in this many has time stamps; 0: none has
  std::uint64_t least_ns = 0;     ///< minimum duration of Thread::look_every events; 0: no function is ever too hot
};
Settings read_settings();

/// Whether the base name of a path matches one of the comma-separated patterns (fnmatch).
bool matches_any(const char* patterns, const char* path);

/// Whether a name passes a list of patterns.  It must match none of those that begin with '-', and one of the others if
/// there are any.
bool passes_filter(const char* patterns, const char* name);

/// Forms the absolute path of this process's recording and creates its directory.  False if that fails, or the path is
/// too long.
bool make_path(char* path, std::size_t bytes);

/// The rank in MPI_COMM_WORLD according to the launcher's environment variables; -1 if there are none.
std::int64_t rank_of_process();

}  // namespace effort::functions
