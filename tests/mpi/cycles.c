/* cycles LEVEL N: consecutive sessions over MPI.  The numbers of communicators, attributes and system resources are the
 * same after all of them as after a few. */
#define _GNU_SOURCE
#include "held.h"
#include "mpi_check.h"

#include <dlfcn.h>

/* Communicators and keys of attributes that the library has made and not freed: it calls MPI by these names. */
static long communicators, keys;

#define EVERYWHERE __attribute__((visibility("default")))
#define NEXT(name)               \
  static __typeof__(&name) next; \
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name)

static int counted(int result, const MPI_Comm* made) {
  if (result == MPI_SUCCESS && *made != MPI_COMM_NULL) ++communicators;
  return result;
}

EVERYWHERE int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  NEXT(PMPI_Comm_dup);
  return counted(next(comm, made), made);
}
EVERYWHERE int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  NEXT(PMPI_Comm_split);
  return counted(next(comm, color, key, made), made);
}
EVERYWHERE int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  NEXT(PMPI_Comm_split_type);
  return counted(next(comm, type, key, info, made), made);
}
EVERYWHERE int PMPI_Comm_free(MPI_Comm* comm) {
  NEXT(PMPI_Comm_free);
  --communicators;
  return next(comm);
}
EVERYWHERE int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* drop, int* key,
                                       void* extra) {
  NEXT(PMPI_Comm_create_keyval);
  ++keys;
  return next(copy, drop, key, extra);
}
EVERYWHERE int PMPI_Comm_free_keyval(int* key) {
  NEXT(PMPI_Comm_free_keyval);
  --keys;
  return next(key);
}

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
