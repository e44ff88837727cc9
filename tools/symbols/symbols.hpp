// From the frames in regions' names to functions, files and lines, after the run.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record/run.hpp"
#include "tools/symbols/call_path.hpp"
#include "tools/symbols/debug_info.hpp"

namespace effort::tools {

/// Resolves frames with the programs and libraries of a run.  A file is searched for in the user's places, then at its
/// path during the run; one of another build than the run's is not used.  Nothing is opened before it is needed.
/// A missing file is not an error: frames stay as they are, and notes() says why.  Threads: one at a time.
class Symbols {
 public:
  /// @param modules  modules of the run (Run::modules); may be empty
  /// @param search   programs and libraries, or directories of them
  /// Errors: std::runtime_error if a place to search does not exist.
  Symbols(std::vector<record::Module> modules, std::vector<std::filesystem::path> search);
  ~Symbols();

  /// The place of a frame's call: the innermost function first, then those that it was inlined into.  Empty: not known.
  const std::vector<Location>& resolve(const Frame& frame);

  /// A region's name for people, on one line: "MPI_Allreduce: norm (solver.cpp:88) < step (solver.cpp:20) < main
  /// (app.c:12)", "norm (solver.cpp:88-95)" for the work between two calls; the name itself if it has no frames.
  /// @param depth  frames per call path, 0: all
  std::string readable(const std::string& region, std::size_t depth = 0);

  /// The same in a few words, for sentences: only the innermost function that is known, "norm (solver.cpp:88)", or
  /// the innermost frame if none is.  Names of different regions may be equal.
  std::string short_name(const std::string& region);

  /// A sentence with call paths in it: frames in brackets resolved, the rest as it is.
  std::string sentence(const std::string& text);

  /// Short names for all of these, each as deep as it must be to differ from the others.
  std::vector<std::string> short_names(const std::vector<std::string>& regions);

  /// The addition to a region's name in `--json`: {"name": readable, "call_paths": [{"call", "frames": [{"module",
  /// "address", "locations": [{"function", "file", "line"}]}]}]}; null if the name has no frames.
  nlohmann::ordered_json json(const std::string& region);

  /// Missing modules and how to provide them, a sentence per module met so far.
  std::vector<std::string> notes() const;

 private:
  struct Module {
    std::unique_ptr<DebugInfo> info;  ///< null: not found
    std::string note;                 ///< empty: all is there
  };
  Module& module(const std::string& name);
  Module open(const std::string& name) const;
  std::vector<std::filesystem::path> candidates(const std::string& name) const;
  std::string text_of(const Frame& frame);
  std::string text_of(const CallPath& path, std::size_t depth);
  std::string innermost_text(const CallPath& path);
  std::string work_text(const CallPath& from, const CallPath& to, std::size_t depth);

  std::vector<record::Module> recorded_;
  std::vector<std::filesystem::path> search_;
  std::map<std::string, Module> modules_;
  std::map<Frame, std::vector<Location>> known_;
};

/// Whether any of a run's regions is named by call paths.
bool has_call_paths(const record::Run& run);

}  // namespace effort::tools
