/* calling_thread LEVEL: below MPI_THREAD_MULTIPLE, and with MPICH and Open MPI 6 at every level, the library calls MPI
 * on the host's thread alone, and only while that is in one of its calls. */
#define _GNU_SOURCE
#include "mpi_check.h"

#include <dlfcn.h>
#include <pthread.h>

static pthread_t host;
static int single, in_library, calls,
    elsewhere; /* the last two: calls of MPI; of these on a thread or at a time not allowed */

static void note(void) {
  const int allowed = !single || (pthread_equal(pthread_self(), host) && in_library);
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  if (!allowed) __atomic_fetch_add(&elsewhere, 1, __ATOMIC_RELAXED);
}

/* The names by which the library calls MPI, here for its exchange. */
#define WATCHED(name, parameters, ...)                         \
  __attribute__((visibility("default"))) int name parameters { \
    static int(*next) parameters;                              \
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name);       \
    note();                                                    \
    return next(__VA_ARGS__);                                  \
  }
WATCHED(PMPI_Comm_dup, (MPI_Comm c, MPI_Comm* made), c, made)
WATCHED(PMPI_Iallreduce, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* q), s, r, n,
        t, o, c, q)
WATCHED(PMPI_Iallgather,
        (const void* s, int m, MPI_Datatype u, void* r, int n, MPI_Datatype t, MPI_Comm c, MPI_Request* q), s, m, u, r,
        n, t, c, q)
WATCHED(PMPI_Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* q), b, n, t, root, c, q)
WATCHED(PMPI_Testall, (int n, MPI_Request* q, int* flag, MPI_Status* s), n, q, flag, s)
WATCHED(PMPI_Iprobe, (int from, int tag, MPI_Comm c, int* flag, MPI_Status* s), from, tag, c, flag, s)

#define IN_LIBRARY(call) \
  do {                   \
    in_library = 1;      \
    CHECK_OK(call);      \
    in_library = 0;      \
  } while (0)

int main(int argc, char** argv) {
  int32_t solve;
  if (argc < 2) return 2;
  start_mpi(&argc, &argv, argv[1]);
  host = pthread_self();
#if defined(MPICH_VERSION) || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 6)
  single = 1;
#else
  single = strcmp(argv[1], "multiple") != 0;
#endif
  IN_LIBRARY(effort_init_mpi(MPI_COMM_WORLD, NULL));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  for (int s = 0; s < 50; ++s) {
    CHECK_OK(effort_add(solve, 1 + my_rank(MPI_COMM_WORLD)));
    IN_LIBRARY(effort_progress_step());
  }
  IN_LIBRARY(effort_snapshot(NULL));
  IN_LIBRARY(effort_finalize());
  CHECK(calls > 20);
  CHECK(elsewhere == 0);
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
