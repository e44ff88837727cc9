// Names of functions in streams of calls.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/calls/input.hpp"

namespace effort::tools {

struct FunctionNames {
  std::vector<std::string> of;     ///< by id; [0] is empty
  std::vector<std::string> notes;  ///< files that are missing, a sentence each

  /// The name of any id; an id without one is shown as its number.
  std::string name(std::uint32_t id) const { return id < of.size() ? of[id] : std::to_string(id); }
};

/// Looks functions up in the files of the program.  Without them, names are "app+0x1139"; of raw streams, "7".
/// @param search  programs and libraries, or directories of them
/// Errors: std::runtime_error if a place to search does not exist.
FunctionNames function_names(const CallInput& input, const std::vector<std::filesystem::path>& search);

}  // namespace effort::tools
