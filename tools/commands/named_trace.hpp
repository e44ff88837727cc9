// Reads a trace with the names that its user knows.
#pragma once

#include <string>
#include <vector>

#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// Reads a trace, with functions, files and lines in the names of regions.
/// @param raw_names  leave them as they are
Trace read_named_trace(const std::string& path, bool raw_names, const std::vector<std::string>& module_paths);

}  // namespace effort::tools
