/* A program that marks its own regions and steps and is also intercepted. MPI time inside computation is charged to the
 * call; inside communication it stays with the region. marked STEPS [WINDOW|LOAD_METRIC VALUE [late|refused]]: VALUE is
 * a setting of the program; late: it begins after steps were taken without it; refused: its init is refused, and it
 * runs on */
#include "known_load.h"

#include <effort/effort_mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 24;
  const char *key = argc > 3 ? argv[2] : "WINDOW", *value = argc > 3 ? argv[3] : "8", *how = argc > 4 ? argv[4] : "";
  const int refused = strcmp(how, "refused") == 0;
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0, sum; i < 4 && strcmp(how, "late") == 0; ++i)
    MPI_Scan(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* STEP=MPI_Scan */
  effort_config* cfg;
  effort_region_id solve, halo;
  int bad = effort_config_new(&cfg) != EFFORT_OK || effort_config_set(cfg, key, value) != EFFORT_OK;
  bad |= effort_init_mpi(MPI_COMM_WORLD, cfg) !=
         (refused ? EFFORT_ERR_UNSUPPORTED : EFFORT_OK); /* adopts the session that the adapter has begun */
  bad |= effort_region("solve", EFFORT_COMPUTE, &solve) != EFFORT_OK ||
         effort_region("halo", EFFORT_COMM, &halo) != EFFORT_OK;
  effort_config_free(cfg);
  for (int step = 0; step < steps && !bad; ++step) {
    double mine = rank, sum = 0;
    effort_begin(solve);
    compute_share(rank, step, 0.5);
    MPI_Bcast(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    compute_share(rank, step, 0.2);
    effort_end(solve);
    effort_begin(halo);
    burn_share(rank, step, 0.1); /* packing, which the host counts as communication */
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    effort_end(halo);
    compute_share(rank, step, 0.3); /* in no region of the host, so the adapter charges it */
    MPI_Barrier(MPI_COMM_WORLD);
    bad |= effort_progress_step() != (refused ? EFFORT_ERR_NOT_INITIALIZED : EFFORT_OK);
  }
  bad |= effort_finalize() != (refused ? EFFORT_ERR_NOT_INITIALIZED : EFFORT_OK);
  MPI_Finalize();
  return bad;
}
