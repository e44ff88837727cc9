// Converts a trace to the input of the analyses in analytics/communication.
#pragma once

#include <string>
#include <vector>

#include "analytics/communication/operations.hpp"
#include "tools/trace/analysis/messages.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools {

struct CommunicationTrace {
  communication::Record record;
  std::vector<std::string> short_names;  ///< of Record::regions, for sentences: without call paths
  std::vector<std::string> notes;        ///< limits of the analyses, a sentence each; those of the trace come first
};

/// Messages get the calls that start and complete each end.  A message outside of any MPI call gets a call of no
/// length.
///
/// Calls belong to one collective if they have the same communicator, step and ordinal within the step; in an archive
/// of another tool, the same communicator and ordinal.  If their names contradict each other, something is missing, and
/// the collective gets Operation::other.  MPI_Alltoallv and MPI_Alltoallw that some rank left before another one came
/// cannot have been N x N: they get Operation::neighbour.
///
/// A non-blocking or persistent collective is completed by the call whose record says so.  Effort's own traces have no
/// such record: there it is the next MPI_Wait (of the oldest one) or MPI_Waitall, MPI_Waitany or MPI_Waitsome (of all)
/// on its thread that completes no message.
///
/// In an archive of another tool, clocks of ranks that contradict each other are corrected (align_clocks).
///
/// @param messages  match_messages(trace)
/// Errors: std::runtime_error if there are 2^32 - 1 calls or more.
/// Cost: O(n log n) in the events.  Memory: 32 bytes a call, 64 a message, 40 a rank's part in a collective.
CommunicationTrace communication_of(const Trace& trace, const TraceMessages& messages);

}  // namespace effort::tools
