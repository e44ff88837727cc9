// Whether all ranks have this adapter: found out without waiting for those that have not.
#pragma once

namespace effort::pmpi {

enum class Agreement { all, refused, unanswered };

/// Whether all ranks of MPI_COMM_WORLD are ready.  Collective for those that have the adapter, after MPI_Init.  Non-blocking in MPI's terms, because a
/// rank without the adapter never joins; what is left pending then is never completed.  In two rounds, so that a rank that comes later than the others
/// have waited does not go on alone.
///
/// Ranks leave MPI_Init within milliseconds of each other.  One that others are missing to waits some times as long as MPI_Init took, which grows with the
/// job and with what else the machine has to do; it counts its own short sleeps, not the clock, so that a machine that stands still meanwhile
/// does not count.
/// @param init_seconds  that MPI_Init took
Agreement all_ranks_ready(bool ready, double init_seconds);

}  // namespace effort::pmpi
