// Finds the regions of a run in its source files, for `effort report --source`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace effort::tools {

/// A stretch of lines that belongs to a region.
struct SourcePlace {
  std::size_t region = 0;   ///< index into the names given
  std::size_t file = 0;     ///< index into SourceMap::files
  int first = 0, last = 0;  ///< lines, from 1, inclusive
  std::string what;         ///< "named here", "begin to end", "call of MPI_Send"
};

struct SourceFile {
  std::string path;  ///< relative to the directory given
  std::string text;  ///< empty if the page would become too large
};

struct SourceMap {
  std::vector<SourceFile> files;    ///< those that hold a place
  std::vector<SourcePlace> places;  ///< by region, then file and line
  std::vector<std::string> notes;   ///< what was left out
};

/// A place that debug information names.
struct KnownPlace {
  std::size_t region = 0;
  std::string file;  ///< as the compiler was given it
  int line = 0;
  std::string what;
};

/// Searches below `directory` for the quoted names of regions (C, C++, Fortran), for the stretches between begin and
/// end of the variables that hold their ids, and for the files of `known`, matched by the longest common suffix of the
/// path.  Hidden directories and links are skipped.  Errors: std::system_error if the directory cannot be read.
SourceMap find_source(const std::filesystem::path& directory, const std::vector<std::string>& regions,
                      const std::vector<KnownPlace>& known);

}  // namespace effort::tools
