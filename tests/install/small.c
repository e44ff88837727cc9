/* The few lines that a user adds, built with pkg-config and with CMake against the installed package. */
#include <effort/effort_mpi.h>
#include <stdio.h>

static int calls;

static int on_rebalance(const effort_hint* hint, void* user) {
  (void)user;
  calls += hint->n_ranks > 0 && hint->load[hint->rank] >= 0;
  return 0;
}

int main(int argc, char** argv) {
  effort_region_id solve;
  MPI_Init(&argc, &argv);
  if (effort_init_mpi(MPI_COMM_WORLD, NULL) != EFFORT_OK) {
    fprintf(stderr, "%s\n", effort_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  effort_region("solve", EFFORT_COMPUTE, &solve);
  effort_on_rebalance(on_rebalance, NULL);
  for (int step = 0; step < 25; ++step) {
    effort_begin(solve);
    effort_end(solve);
    progress_step();
  }
  const effort_status status = effort_finalize();
  MPI_Finalize();
  return status != EFFORT_OK || calls < 2;
}
