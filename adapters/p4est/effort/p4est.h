/* Partitions a p4est forest by the library's costs.  Header only; link p4est and libeffort_mpi as you do already.  For
 * octrees include <p4est_to_p8est.h> before it. */
#ifndef EFFORT_P4EST_H
#define EFFORT_P4EST_H

#include <effort/effort_mpi.h>
#include <limits.h>
#ifdef P4_TO_P8
#include <p8est_extended.h>
#else
#include <p4est_extended.h>
#endif
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces the forest's user pointer while it is partitioned. */
typedef struct effort_p4est_costs {
  const int64_t* cost;
} effort_p4est_costs;

static inline int effort_p4est_weight(p4est_t* forest, p4est_topidx_t which_tree, p4est_quadrant_t* quadrant) {
  const effort_p4est_costs* costs = (const effort_p4est_costs*)forest->user_pointer;
  p4est_tree_t* tree = p4est_tree_array_index(forest->trees, which_tree);
  const ptrdiff_t in_tree = quadrant - (p4est_quadrant_t*)(void*)tree->quadrants.array;
  const int64_t cost = costs->cost[tree->quadrants_offset + in_tree];
  return cost < INT_MAX ? (int)cost : INT_MAX;
}

/** Redistributes the quadrants so that their weights are balanced.  Collective over the forest's communicator.
 *  @param weight          [forest->local_num_quadrants] seconds, finite, >= 0, in the order of the local quadrants
 *  @param for_coarsening  keep families of quadrants together, as for p4est_partition
 *  Errors: those of effort_weights_integers_mpi, the same on all ranks; the forest is then unchanged. */
static inline effort_status effort_p4est_partition(p4est_t* forest, int for_coarsening, const double* weight) {
  /* A mean cost of 1024 resolves a thousandth; sums stay below 2^52. */
  int64_t mean = 1024;
  while (mean > 1 && forest->global_num_quadrants > ((int64_t)1 << 51) / mean) mean /= 2;
  const size_t n = (size_t)forest->local_num_quadrants;
  int64_t* cost = (int64_t*)malloc((n > 0 ? n : 1) * sizeof *cost);
  const effort_status status = effort_weights_integers_mpi(forest->mpicomm, n, cost ? weight : NULL,
                                                           mean * forest->global_num_quadrants, 1, cost);
  if (status == EFFORT_OK) {
    void* const user = forest->user_pointer;
    effort_p4est_costs costs = {cost};
    forest->user_pointer = &costs;
    p4est_partition_ext(forest, for_coarsening, effort_p4est_weight);
    forest->user_pointer = user;
  }
  free(cost);
  return status;
}

#ifdef __cplusplus
}
#endif
#endif /* EFFORT_P4EST_H */
