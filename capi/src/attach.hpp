// What the libraries beside libeffort (MPI, adapters) call in it.  Not installed; exported, C linkage.
#pragma once

#include "effort/effort.h"

namespace effort::exchange {
class Transport;
}

extern "C" {

/// Joins the ranks of a transport, which it takes over: makes a session from `cfg`, or attaches to the one there is.
/// Collective; the same status on all ranks.
EFFORT_API effort_status effort_attach_transport(effort::exchange::Transport* transport, const effort_config* cfg);

/// Finalizes a session that the host has not, at the start of MPI_Finalize; a later effort_finalize of the host then
/// returns what this came to.
EFFORT_API void effort_finalize_forgotten(void);

/// Keeps a message for effort_last_error() and returns the status.
EFFORT_API effort_status effort_fail(effort_status status, const char* message);

/// Begins a session on behalf of an adapter that is there before the host calls anything; a later effort_init or
/// effort_init_mpi of the host adopts it.
EFFORT_API effort_status effort_adapter_begin(void);
}
