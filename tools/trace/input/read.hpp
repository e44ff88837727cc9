// Reads traces, of effort and of other tools, into one model.
#pragma once

#include <string>

#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// Reads `path`: a directory NAME-JOB.trace, one of its node-*.trc files, or an OTF2 archive (the .otf2 file, or a
/// directory that holds one).  Damaged parts are left out and listed in notes.
/// Errors: std::runtime_error, record::FormatError, std::system_error, naming file and offset.
/// Memory: 48 bytes an event.
Trace read_trace(const std::string& path);

/// Whether this build of effort reads and writes OTF2.
bool otf2_available();
/// The two kinds; read_trace chooses.
Trace read_effort_trace(const std::string& path);
Trace read_otf2_trace(const std::string& anchor);

}  // namespace effort::tools
