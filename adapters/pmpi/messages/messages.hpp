// The messages and collectives of a host's MPI calls in the trace, recorded only if TRACE asks for it.
#pragma once

namespace effort::pmpi {

/// Whether messages are recorded.
extern __attribute__((visibility("hidden"))) bool messages_on;

/// After MPI_Init: begins to record.
void begin_messages();
/// A new session begins.
void renew_messages();
/// Out of memory: records no more messages, and adds a note.
void end_messages() noexcept;

}  // namespace effort::pmpi
