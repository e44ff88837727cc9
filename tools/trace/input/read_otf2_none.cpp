// Replaces the reader of OTF2 archives in a build without OTF2.
#include <stdexcept>

#include "tools/trace/input/read.hpp"

namespace effort::tools {

bool otf2_available() { return false; }

Trace read_otf2_trace(const std::string& anchor) {
  throw std::runtime_error("'" + anchor + "' cannot be read: effort was built without OTF2");
}

}  // namespace effort::tools
