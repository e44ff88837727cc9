// Reports why nothing is measured, in the place where users look for snapshots.
#pragma once

#include <string>

namespace effort::pmpi {

/// Leaves one line in the folder of the snapshots, PROGRAM-not-measured.txt; the first process to do so writes it, and
/// prints the same to stderr if REPORT=summary.  With VERBOSE=1 every process prints it.  Reads the settings from the
/// environment, because there may be no session.  Does not throw; ignores errors of writing.
void report_not_measured(const std::string& reason);
/// The same on stderr alone.
void report_not_measured_here(const std::string& reason);

}  // namespace effort::pmpi
