// Functions of libeffort that its companion libraries (MPI, adapters) call.  Exported with C linkage, but not
// installed.
#pragma once

#include "effort/effort.h"

namespace effort::exchange {
class Transport;
}

extern "C" {

/// Joins the ranks of a transport, whose ownership it takes: makes a session from `cfg`, or attaches the existing one.
/// Collective; the same status on all ranks.
EFFORT_API effort_status effort_attach_transport(effort::exchange::Transport* transport, const effort_config* cfg);

/// Finalizes a session that the host has not finalized, at the start of MPI_Finalize.  A later effort_finalize of the
/// host returns this outcome.
EFFORT_API void effort_finalize_forgotten(void);

/// Keeps a message for effort_last_error() and returns the status.
EFFORT_API effort_status effort_fail(effort_status status, const char* message);

/// Begins a session on behalf of an adapter, before the host's first call; a later effort_init or effort_init_mpi of
/// the host adopts it.
EFFORT_API effort_status effort_adapter_begin(void);
}
