// Replaces the writer of OTF2 archives in a build without OTF2.
#include <stdexcept>

#include "tools/trace/export/export.hpp"

namespace effort::tools {

TraceExported export_trace_otf2(const Trace&, const TraceMessages&, const std::filesystem::path&) {
  throw std::runtime_error("effort was built without OTF2");
}

}  // namespace effort::tools
