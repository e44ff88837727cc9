/* unmet ADVISED: the loads of the ranks differ, but nobody waits for those with more, as if the others wrote files in
 * the meantime.  Fails unless a rebalance is advised after the first windows if and only if ADVISED is 1.  The loads
 * are given as numbers, so the test does not depend on the machine: the ranks only meet at a barrier in every step. */
#include <effort/effort_mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { n_steps = 200, known_from = 20 };
static int hints, advised;

static int on_hint(const effort_hint* hint, void* user) {
  (void)user;
  if (hint->step < known_from) return 0;
  ++hints;
  advised += hint->rebalance;
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int wanted = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  effort_region_id solve;
  if (effort_init_mpi(MPI_COMM_WORLD, NULL) != EFFORT_OK ||
      effort_region("solve", EFFORT_COMPUTE, &solve) != EFFORT_OK || effort_on_rebalance(on_hint, NULL) != EFFORT_OK) {
    fprintf(stderr, "unmet: %s\n", effort_last_error());
    return 2;
  }
  for (int step = 0; step < n_steps; ++step) {
    effort_add(solve, rank == 0 ? 20 : 40);
    MPI_Barrier(MPI_COMM_WORLD);
    if (effort_progress_step() != EFFORT_OK) return 2;
  }
  effort_finalize();
  const int good = hints > 0 && (advised > 0) == wanted;
  if (!good) fprintf(stderr, "unmet: %d of %d hints of rank %d advise a rebalance\n", advised, hints, rank);
  MPI_Finalize();
  return !good;
}
