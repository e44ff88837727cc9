// Whether all ranks have this adapter: found out without waiting long for those that have not.
#pragma once

namespace effort::pmpi {

enum class Agreement { all, refused, unanswered };

/// Whether all ranks of MPI_COMM_WORLD have the adapter.  Right after MPI_Init, before anything that takes time.
/// Non-blocking in MPI's terms, because a rank without the adapter never joins; what is left pending then is never
/// completed.
///
/// Ranks leave MPI_Init within milliseconds of each other.  One that others are missing to waits some times as long as
/// MPI_Init took, which grows with the job and with what else the machine has to do; it counts its own short sleeps,
/// not the clock, so that a machine that stands still meanwhile does not count.
/// @param init_seconds  that MPI_Init took
bool all_ranks_present(double init_seconds);

/// Whether all are ready, now that all are known to be there.  Unanswered, after a long wait, only where one of them
/// came so late that it had given the others up: then nobody goes on.
Agreement all_ranks_ready(bool ready);

}  // namespace effort::pmpi
