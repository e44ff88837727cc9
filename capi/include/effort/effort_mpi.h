/* effort with MPI. */
#ifndef EFFORT_EFFORT_MPI_H
#define EFFORT_EFFORT_MPI_H

#include <effort/effort.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Starts the library on all ranks of `comm`, which is duplicated.  Collective; the same status on all ranks.
 *  After effort_init it attaches the communicator to that session, once and before the first progress step; it
 *  adopts a session that an adapter has begun.  Rank 0's configuration holds for all ranks.  Unless MPI was initialized
 *  with MPI_THREAD_MULTIPLE, and with MPICH and Open MPI 6 always, the library calls MPI only inside its own calls, on
 *  the host's thread.  A session that no rank finalizes is finalized at the start of MPI_Finalize.
 *  Errors: EFFORT_ERR_MPI (before MPI_Init, after MPI_Finalize, another MPI implementation than this library was
 *  built with), EFFORT_ERR_STATE (progress steps were taken), EFFORT_ERR_MEMORY, and those of effort_init. */
EFFORT_API effort_status effort_init_mpi(MPI_Comm comm, const effort_config* cfg);

/** The same for a communicator handle of Fortran; the Fortran module calls it. */
EFFORT_API effort_status effort_init_mpi_fortran(MPI_Fint comm, const effort_config* cfg);

/** As effort_weights_integers, for items that are spread over the ranks of `comm`: the costs of all of them are in
 *  proportion to the weights, comparable between ranks, and add up to `sum` exactly.  Collective over `comm`; works
 *  without an init; the same status on all ranks.
 *  @param n_items  of this rank, >= 0
 *  Errors: EFFORT_ERR_INVALID_ARGUMENT if any rank's arguments are bad, EFFORT_ERR_MPI. */
EFFORT_API effort_status effort_weights_integers_mpi(MPI_Comm comm, size_t n_items, const double* weight, int64_t sum,
                                                     int64_t least, int64_t* cost);

#ifdef __cplusplus
}
#endif
#endif /* EFFORT_EFFORT_MPI_H */
