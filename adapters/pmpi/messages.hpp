// The messages and collectives of a host's MPI calls in the trace, recorded only if TRACE asks for it.
#pragma once

#include "adapters/pmpi/arguments.hpp"

namespace effort::pmpi {

class Thread;
struct Site;

/// Whether messages are recorded.
extern __attribute__((visibility("hidden"))) bool messages_on;

/// After MPI_Init: begins to record.
void begin_messages();
/// A new session begins.
void renew_messages();

/// Before a call, which the thread has entered: records what it starts, and takes note of what it may complete.  The
/// call gets statuses of this library where the host wants none but they tell what a receive has got.
/// @param words  the call's arguments, of which it may replace the status
void before_call(Call call, Word* words, bool fortran, Thread& thread, const Site& site) noexcept;
/// After a call, which the thread has left: records what has been completed.
/// @param words  as before_call() has left them
void after_call(const Word* words, bool succeeded, Thread& thread) noexcept;

}  // namespace effort::pmpi
