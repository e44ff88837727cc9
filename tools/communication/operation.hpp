// The operations of the calls in a trace.
#pragma once

#include <cstdint>
#include <string>

#include "analytics/communication/operations.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// The operation of a call, from its name without "MPI_" and in lower case (see mpi_call); `user` if the name is empty.
/// All forms of a call count as one: MPI_Issend starts a send, MPI_Ireduce reduces, MPI_Testall waits for several
/// requests.
communication::Operation operation_of_call(const std::string& call);

/// Whether the call starts a collective that another one completes: MPI_Iallreduce, MPI_Start.
bool starts_only(const std::string& call);

/// The operation of a call whose name is unknown, from the first message or collective in it.  Among collectives
/// without a root, only a barrier can be distinguished from N x N.
/// @param rank  that recorded the event: its data shows whether the root of a collective receives or sends
communication::Operation operation_of_event(const TraceEvent& event, std::int32_t rank);

}  // namespace effort::tools
