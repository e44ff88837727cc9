#include "tools/commands/named_trace.hpp"

#include <utility>

#include "tools/symbols/symbols.hpp"
#include "tools/trace/input/read.hpp"

namespace effort::tools {

Trace read_named_trace(const std::string& path, bool raw_names, const std::vector<std::string>& module_paths) {
  Trace trace = read_trace(path);
  if (raw_names) return trace;
  Symbols symbols(trace.modules, {module_paths.begin(), module_paths.end()});
  for (TraceRegion& region : trace.regions) {
    region.short_name = symbols.short_name(region.name);
    region.name = symbols.readable(region.name);
  }
  for (std::string& note : symbols.notes()) trace.notes.push_back(std::move(note));
  return trace;
}

}  // namespace effort::tools
