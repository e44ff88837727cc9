/* A program that traps every floating-point exception while it calls MPI, and computes in whole numbers itself. Its
 * flags are clear after every call. */
#define _GNU_SOURCE
#include <fenv.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { n_steps = 300 };

static long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void compute(void) {
  for (const long until = now_ns() + 100000; now_ns() < until;) {
  }
}

static int raised(const char* call, int step) {
  const int flags = fetestexcept(FE_ALL_EXCEPT);
  if (flags) fprintf(stderr, "%s of step %d raised %#x\n", call, step, (unsigned)flags);
  feclearexcept(FE_ALL_EXCEPT);
  return flags != 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 16) return 2;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_ALL_EXCEPT);
  for (int step = 0; step < n_steps; ++step) {
    int mine[3] = {rank, step, 1}, theirs[3] = {-1, -1, -1}, sum[3];
    compute();
    MPI_Sendrecv(mine, 3, MPI_INT, next, 7, theirs, 3, MPI_INT, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += raised("MPI_Sendrecv", step);
    int all[16];
    MPI_Request request;
    MPI_Ialltoall((int[16]){0}, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong += raised("MPI_Ialltoall or MPI_Wait", step);
    compute();
    MPI_Allreduce(mine, sum, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += raised("MPI_Allreduce", step) + (sum[2] != size) + (theirs[1] != step);
  }
  fedisableexcept(FE_ALL_EXCEPT);
  MPI_Finalize();
  return wrong != 0;
}
