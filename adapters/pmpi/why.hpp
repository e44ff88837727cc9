// Says why nothing is measured, where a user looks for what was.
#pragma once

#include <string>

namespace effort::pmpi {

/// Leaves one line in the folder of the snapshots, PROGRAM-not-measured.txt; the first process that comes to it writes
/// it, and says the same on stderr where REPORT=summary asks for output there.  With VERBOSE=1 every process says it.
/// Reads the settings from the environment: there may be no session.  Does not throw; what cannot be written is not
/// said.
void tell_why_nothing(const std::string& reason);
/// The same on stderr alone.
void tell_why_nothing_here(const std::string& reason);

}  // namespace effort::pmpi
