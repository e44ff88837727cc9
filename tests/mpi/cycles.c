/* cycles LEVEL N: consecutive sessions over MPI.  The numbers of communicators, attributes and system resources are the
 * same after all of them as after a few. */
#define _GNU_SOURCE
#include "counted_communicators.h"
#include "held.h"
#include "mpi_check.h"

static int rank;

static void session(void) {
  int32_t solve;
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  CHECK(communicators > 0);
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  for (int s = 0; s < 12; ++s) {
    CHECK_OK(effort_add(solve, 1 + rank));
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_finalize());
  CHECK(communicators == 0);
}

int main(int argc, char** argv) {
  const int cycles = argc > 2 ? atoi(argv[2]) : 0;
  const char* dir = getenv("EFFORT_SNAPSHOT_DIR");
  struct Held before = held_now();
  long keys_before = 0;
  if (cycles < 8 || !dir) return 2;
  start_mpi(&argc, &argv, argv[1]);
  rank = my_rank(MPI_COMM_WORLD);
  if (rank == 0) emptied(dir);
  for (int n = 0; n < cycles; ++n) {
    if (n == cycles / 4) {
      before = held_now();
      keys_before = keys;
    }
    session();
    if (rank == 0) CHECK(emptied(dir) == 1);
  }
  CHECK(keys == keys_before);
  check_held_is(&before);
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
