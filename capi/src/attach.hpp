// Functions of libeffort for its companion libraries (MPI, adapters).  Not installed; exported, C linkage.
#pragma once

#include "effort/effort.h"

namespace effort::exchange {
class Transport;
}

extern "C" {

/// Joins the ranks of a transport and takes ownership of it: creates a session from `cfg` or attaches to the existing
/// one.  Collective; the same status on all ranks.
EFFORT_API effort_status effort_attach_transport(effort::exchange::Transport* transport, const effort_config* cfg);

/// Called at the start of MPI_Finalize: finalizes a session that the host has not finalized.  A later effort_finalize
/// of the host returns the outcome.
EFFORT_API void effort_finalize_forgotten(void);

/// Stores a message for effort_last_error() and returns the status.
EFFORT_API effort_status effort_fail(effort_status status, const char* message);

/// Begins a session for an adapter before the host has made any call.  A later effort_init or effort_init_mpi of the
/// host adopts it.
EFFORT_API effort_status effort_adapter_begin(void);
}
