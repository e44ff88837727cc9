/* alone: an MPI that takes every rank for one on a machine of its own, as MPICH 5.0 does over UCX.  The library
 * finds those that share one. */
#define _GNU_SOURCE
#include "mpi_check.h"
#include "snapshot_info.h"

__attribute__((visibility("default"))) int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                                                MPI_Comm* out) {
  (void)type;
  (void)info;
  return MPI_Comm_split(comm, my_rank(comm), key, out);
}

int main(int argc, char** argv) {
  char path[512], dir[] = "alone-XXXXXX";
  start_mpi(&argc, &argv, "init");
  if (my_rank(MPI_COMM_WORLD) == 0) CHECK(mkdtemp(dir) != NULL);
  MPI_Bcast(dir, sizeof dir, MPI_BYTE, 0, MPI_COMM_WORLD);
  setenv("EFFORT_SNAPSHOT_DIR", dir, 1);
  int32_t solve;
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  for (int s = 0; s < 12; ++s) {
    CHECK_OK(effort_add(solve, 1));
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_finalize());
  if (my_rank(MPI_COMM_WORLD) == 0 && CHECK(snapshots_in(dir, path, sizeof path) == 1))
    CHECK_NEAR(number_in(info_json(path), "", "nodes"), 1, 0);
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
