// Replaces the sources that need OTF2 in a build without it.
#include <stdexcept>

#include "tools/trace/export.hpp"
#include "tools/trace/trace.hpp"

namespace effort::tools {

bool otf2_available() { return false; }

Trace read_otf2_trace(const std::string& anchor) {
  throw std::runtime_error("'" + anchor + "' cannot be read: OTF2 is not built into this effort");
}

TraceExported export_trace_otf2(const Trace&, const TraceMessages&, const Destination&) {
  throw std::runtime_error("OTF2 is not built into this effort");
}

}  // namespace effort::tools
