/* A p4est forest partitioned by the library's costs. */
#include "model.h"

#include <effort/p4est.h>
#include <p4est.h>

static double place_of(p4est_topidx_t tree, const p4est_quadrant_t* q) {
  return 0.5 * (tree + (double)q->y / P4EST_ROOT_LEN);
}

/* Places of the local quadrants, in their order. */
static int places(p4est_t* forest, double* place) {
  int n = 0;
  for (p4est_topidx_t t = forest->first_local_tree; t <= forest->last_local_tree; ++t) {
    p4est_tree_t* tree = p4est_tree_array_index(forest->trees, t);
    for (size_t i = 0; i < tree->quadrants.elem_count; ++i)
      place[n++] = place_of(t, p4est_quadrant_array_index(&tree->quadrants, i));
  }
  return n;
}

static double imbalance_now(p4est_t* forest, double* place) {
  double load[64] = {0};
  const int n = places(forest, place);
  for (int i = 0; i < n; ++i) load[forest->mpirank] += true_cost(place[i]);
  return imbalance_of(load);
}

int main(int argc, char** argv) {
  start_mpi(&argc, &argv, "init");
  sc_init(MPI_COMM_WORLD, 0, 0, NULL, SC_LP_SILENT);
  p4est_init(NULL, SC_LP_SILENT);
  int mine = 17;
  p4est_connectivity_t* trees = p4est_connectivity_new_brick(2, 1, 0, 0);
  p4est_t* forest = p4est_new_ext(MPI_COMM_WORLD, trees, 0, 4, 1, 0, NULL, &mine);
  double *place = malloc((size_t)forest->global_num_quadrants * sizeof *place),
         *weight = malloc((size_t)forest->global_num_quadrants * sizeof *weight);
  CHECK(imbalance_now(forest, place) > 0.3);
  const int n = places(forest, place);
  weigh(n, place, weight);
  CHECK_OK(effort_p4est_partition(forest, 0, weight));
  CHECK(forest->user_pointer == &mine);
  CHECK(forest->global_num_quadrants == 512);
  CHECK(imbalance_now(forest, place) < 0.1);
  /* If one rank has bad weights, all ranks get an error and the forest stays unchanged. */
  const int before = forest->local_num_quadrants;
  for (int i = 0; i < before; ++i) weight[i] = forest->mpirank == 1 && i == 0 ? -1 : 1;
  CHECK_FAILS(effort_p4est_partition(forest, 0, weight), EFFORT_ERR_INVALID_ARGUMENT, "rank 1");
  CHECK(forest->local_num_quadrants == before);
  free(place);
  free(weight);
  p4est_destroy(forest);
  p4est_connectivity_destroy(trees);
  const int failed = failures_of_all();
  sc_finalize();
  MPI_Finalize();
  return failed != 0;
}
