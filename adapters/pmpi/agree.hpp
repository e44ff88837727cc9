// Finds out whether all ranks have this adapter, without waiting long for ranks that lack it.  What the ranks agree on
// after that is listed in runtime/exchange/agreement.hpp.
#pragma once

namespace effort::pmpi {

enum class Agreement { all, refused, unanswered };

/// Whether all ranks of MPI_COMM_WORLD have the adapter.  Call it right after MPI_Init, before anything that takes
/// time.  Uses non-blocking operations, because a rank without the adapter never joins; those left pending are never
/// completed.
///
/// Ranks leave MPI_Init within milliseconds of each other.  A rank that misses others waits a multiple of the duration
/// of MPI_Init, which grows with the job and the load of the machine.  It counts its own short sleeps rather than the
/// clock, so that time in which the machine is suspended does not count.
/// @param init_seconds  duration of MPI_Init
bool all_ranks_present(double init_seconds);

/// Agrees whether all ranks are ready.  Call it only once all ranks are known to have the adapter.  The ranks wait
/// for each other for a limited time.  If one arrives later than that, they do not agree, and no rank continues.
Agreement all_ranks_ready(bool ready);

}  // namespace effort::pmpi
