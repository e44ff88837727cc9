// Finds out whether all ranks have this adapter, without waiting long for ranks that lack it.
#pragma once

namespace effort::pmpi {

enum class Agreement { all, refused, unanswered };

/// Whether all ranks of MPI_COMM_WORLD have the adapter.  Right after MPI_Init, before anything that takes time.  Uses
/// non-blocking operations, because a rank without the adapter never joins; those left pending are never completed.
///
/// Ranks leave MPI_Init within milliseconds of each other.  A rank that misses others waits a multiple of the duration
/// of MPI_Init, which grows with the job and the load of the machine.  It counts its own short sleeps rather than the
/// clock, so that time in which the machine is suspended does not count.
/// @param init_seconds  that MPI_Init took
bool all_ranks_present(double init_seconds);

/// Whether all ranks are ready; all are known to have the adapter.  There is no answer, after a long wait, only if a
/// rank came so late that it had given up on the others.  Then no rank goes on.
Agreement all_ranks_ready(bool ready);

}  // namespace effort::pmpi
