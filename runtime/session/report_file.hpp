// The file that EFFORT_REPORT names.
#pragma once

#include <string>

namespace effort::session {

/// Replaces the content of a regular file, or creates one.  If the report does not fit (full disk, `ulimit -f`), the
/// previous report is kept, or no file is created.  Never waits: pipes and devices are refused.
/// @throws Error(io) with the reason and a remedy
void write_report(const std::string& path, const std::string& text);

}  // namespace effort::session
