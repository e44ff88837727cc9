// Whether all ranks have this adapter: found out without waiting for ever for those that have not.
#pragma once

namespace effort::pmpi {

/// How long a rank waits for the others at MPI_Init's end.  They leave it within milliseconds of each other; where one was not given the
/// adapter (a preload in a part of the job, a node that lacks the file), this is what that costs the others.
inline constexpr double most_seconds_for_others = 20;

enum class Agreement { all, refused, unanswered };

/// Whether all ranks of MPI_COMM_WORLD are ready.  Collective for those that have the adapter, after MPI_Init.  Non-blocking in MPI's terms, because a
/// rank without the adapter never joins; what is left pending then is never completed.  In two rounds, so that a rank that comes later than the others
/// have waited does not go on alone.
Agreement all_ranks_ready(bool ready);

}  // namespace effort::pmpi
