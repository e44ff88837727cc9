// The messages and collectives of a host's MPI calls, followed only if TRACE or COMM_MATRIX asks for it.
#pragma once

namespace effort::pmpi {

#pragma GCC visibility push(hidden)
/// Whether messages are followed.
extern bool messages_on;
/// Whether they are recorded in the trace.
extern bool messages_traced;
#pragma GCC visibility pop

/// After MPI_Init: begins to follow them.
void begin_messages();
/// A new session begins.
void renew_messages();
/// Out of memory: follows no more messages, and adds a note.
void end_messages() noexcept;

}  // namespace effort::pmpi
