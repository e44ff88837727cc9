/* refused LEVEL: a rank gets no thread or no memory for the library.  All ranks get an error, none waits, and the next
 * session works. */
#define _GNU_SOURCE
#include "mpi_check.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

static int no_thread, no_memory;

/* In place of the C library's, for the whole process. */
#define EVERYWHERE __attribute__((visibility("default")))
EVERYWHERE int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  typedef int (*create_fn)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static create_fn next;
  if (no_thread) return EAGAIN;
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, start, argument);
}

EVERYWHERE void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  typedef void* (*mmap_fn)(void*, size_t, int, int, int, off_t);
  static mmap_fn next;
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "mmap");
  if (no_memory && (flags & MAP_NORESERVE)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return next(at, bytes, protection, flags, file, offset);
}

static void signals_are_as_before(void) {
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  CHECK(!sigismember(&now, SIGINT) && !sigismember(&now, SIGTERM) && !sigismember(&now, SIGALRM));
}

static void session(void) {
  int32_t solve;
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  for (int s = 0; s < 25; ++s) {
    CHECK_OK(effort_add(solve, 1.0));
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_finalize());
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  start_mpi(&argc, &argv, argv[1]);
  const int rank = my_rank(MPI_COMM_WORLD);
  no_thread = rank == 0;
  CHECK_FAILS(effort_init_mpi(MPI_COMM_WORLD, NULL), EFFORT_ERR_MEMORY, rank == 0 ? "ulimit -u" : "another rank");
  no_thread = 0;
  signals_are_as_before();
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_NOT_INITIALIZED, NULL);

  setenv("EFFORT_RANKS_PER_NODE", "1", 1);
  no_memory = rank == 1;
  CHECK_FAILS(effort_init_mpi(MPI_COMM_WORLD, NULL), EFFORT_ERR_MEMORY, rank == 1 ? "this rank" : "another rank");
  no_memory = 0;

  /* Begun by effort_init, attached in vain, attached again. */
  CHECK_OK(effort_init(NULL));
  no_thread = rank == 0;
  CHECK_FAILS(effort_init_mpi(MPI_COMM_WORLD, NULL), EFFORT_ERR_MEMORY, NULL);
  no_thread = 0;
  session();

  /* Without MPI, the thread is created at the first step. */
  CHECK_OK(effort_init(NULL));
  no_thread = 1;
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_MEMORY, "ulimit -u");
  no_thread = 0;
  signals_are_as_before();
  CHECK_OK(effort_progress_step());
  CHECK_OK(effort_finalize());
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
