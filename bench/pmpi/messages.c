/* The cost that recording messages adds to MPI calls.  With the adapter preloaded, chunks of calls that it intercepts
 * and of the same calls by their PMPI_ names alternate.  Compare a run with EFFORT_TRACE=on with one without it
 * (messages.sh).
 *   mpirun -np 2 env LD_PRELOAD=libeffort_pmpi.so EFFORT_STEP=MPI_Barrier [EFFORT_TRACE=on] bench_pmpi_messages
 * Prints the median times of a round of each: PMPI, MPI, and the median of the differences in nanoseconds. */
#include "rounds.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { sums, exchanges, workloads };
static const char* const names[workloads] = {"Allreduce", "Irecv, Isend, Waitall"};
static int rank, size;

static double chunk(int workload, int intercepted, int calls) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  double x = 1, y;
  MPI_Request r[2];
  const double start = MPI_Wtime();
  if (workload == sums && intercepted)
    for (int i = 0; i < calls; ++i) MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (workload == sums && !intercepted)
    for (int i = 0; i < calls; ++i) PMPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (workload == exchanges && intercepted)
    for (int i = 0; i < calls; ++i) {
      MPI_Irecv(&y, 1, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &r[0]);
      MPI_Isend(&x, 1, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &r[1]);
      MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
  if (workload == exchanges && !intercepted)
    for (int i = 0; i < calls; ++i) {
      PMPI_Irecv(&y, 1, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &r[0]);
      PMPI_Isend(&x, 1, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &r[1]);
      PMPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
  return 1e9 * (MPI_Wtime() - start) / calls;
}

int main(int argc, char** argv) {
  const int rounds = positive(argc, argv, 1, 2001), calls = positive(argc, argv, 2, 100);
  double* took[3];
  for (int w = 0; w < 3; ++w) took[w] = times_of(rounds);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD); /* the first step ends, and recording begins */
  for (int w = 0; w < workloads; ++w) {
    for (int i = 0; i < rounds; ++i) {
      for (int k = 0; k < 2; ++k) took[(i + k) % 2][i] = chunk(w, (i + k) % 2, calls);
      took[2][i] = took[1][i] - took[0][i];
    }
    if (rank == 0)
      printf("%s %.1f %.1f %.1f\n", names[w], median(took[0], rounds), median(took[1], rounds),
             median(took[2], rounds));
  }
  MPI_Finalize();
  for (int w = 0; w < 3; ++w) free(took[w]);
  return 0;
}
