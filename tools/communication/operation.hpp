// What the calls of a trace do.
#pragma once

#include <string>

#include "analytics/communication/operations.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// What a call does, by its name without "MPI_" and in small letters (see mpi_call); `user` if the name is empty.  The
/// forms of a call count as one: MPI_Issend starts a send, MPI_Ireduce reduces, MPI_Testall waits for several.
communication::Operation operation_of_call(const std::string& call);

/// Whether the call starts a collective that another one completes: MPI_Iallreduce, MPI_Start.
bool starts_only(const std::string& call);

/// What a collective does whose call does not say so, such as one that MPI_Start starts: by its root, and by what the
/// root sends and receives.  Of one without a root, only a barrier can be told from N x N.
communication::Operation operation_of_collective(bool has_root, bool root_receives, bool moves_bytes);

/// What a call does of which only its kind is known, by the first message or collective in it.
communication::Operation operation_of_event(const TraceEvent& event);

}  // namespace effort::tools
