// What the calls of a trace do.
#pragma once

#include <cstdint>
#include <string>

#include "analytics/communication/operations.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// What a call does, by its name without "MPI_" and in small letters (see mpi_call); `user` if the name is empty.  The
/// forms of a call count as one: MPI_Issend starts a send, MPI_Ireduce reduces, MPI_Testall waits for several.
communication::Operation operation_of_call(const std::string& call);

/// Whether the call starts a collective that another one completes: MPI_Iallreduce, MPI_Start.
bool starts_only(const std::string& call);

/// What a call does of which only its kind is known, by the first message or collective in it.  Of a collective without
/// a root, only a barrier can be told from N x N.
/// @param rank  that recorded the event: whether the root of a collective receives or sends shows by what it does
communication::Operation operation_of_event(const TraceEvent& event, std::int32_t rank);

}  // namespace effort::tools
