/* Vertex loads for PT-Scotch from the library's costs; the same arrays serve ParMETIS (vwgt).  Header only; link
 * PT-Scotch and libeffort_mpi as you do already. */
#ifndef EFFORT_PTSCOTCH_H
#define EFFORT_PTSCOTCH_H

#include <effort/effort_mpi.h>
#include <ptscotch.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Integer loads of the local vertices, comparable between ranks: `veloloctab` of SCOTCH_dgraphBuild.  Collective.
 *  @param n       local vertices, >= 0
 *  @param weight  [n] seconds, finite, >= 0
 *  @param load    [n] out, each at least 1; over all ranks they add up to at most 2^30, which fits 32-bit builds
 *  Errors: those of effort_weights_integers_mpi, the same on all ranks. */
static inline effort_status effort_ptscotch_loads(MPI_Comm comm, SCOTCH_Num n, const double* weight, SCOTCH_Num* load) {
  const int64_t most = (int64_t)1 << 30;
  long long mine = (long long)n, all = 0;
  if (MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, comm) != MPI_SUCCESS) return EFFORT_ERR_MPI;
  int64_t* cost = (int64_t*)malloc((n > 0 ? (size_t)n : 1) * sizeof *cost);
  const int64_t sum = all <= most / 1024 ? 1024 * (int64_t)all : most; /* a mean load of 1024, if that fits */
  const effort_status status = effort_weights_integers_mpi(comm, (size_t)n, cost ? weight : NULL, sum, 1, cost);
  for (SCOTCH_Num i = 0; status == EFFORT_OK && i < n; ++i) load[i] = (SCOTCH_Num)cost[i];
  free(cost);
  return status;
}

#ifdef __cplusplus
}
#endif
#endif /* EFFORT_PTSCOTCH_H */
