/* What the MPI adapter adds to a call: run with it preloaded, chunks of MPI_Allreduce (intercepted) and of PMPI_Allreduce
 * (not) take turns; the result is the median ratio of chunks of the same round.
 *   mpirun -np 2 env LD_PRELOAD=libeffort_pmpi.so EFFORT_STEP=off bench_pmpi [ROUNDS [CALLS]] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* v, int n) {
  qsort(v, (size_t)n, sizeof *v, by_value);
  return v[n / 2];
}

static double intercepted(int calls) {
  double x = 1, y;
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

static double direct(int calls) {
  double x = 1, y;
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) PMPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 3001, calls = argc > 2 ? atoi(argv[2]) : 100;
  double* ratio = malloc((size_t)rounds * sizeof *ratio);
  double* plain = malloc((size_t)rounds * sizeof *plain);
  if (rounds < 1 || calls < 1 || !ratio || !plain) return 2;
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  intercepted(calls);
  direct(calls);
  for (int i = 0; i < rounds; ++i) {
    /* Who goes first takes turns too. */
    double first = i % 2 ? direct(calls) : intercepted(calls);
    double second = i % 2 ? intercepted(calls) : direct(calls);
    plain[i] = i % 2 ? first : second;
    ratio[i] = (i % 2 ? second : first) / plain[i];
  }
  if (rank == 0)
    printf("%d ranks, %d rounds of %d calls: PMPI_Allreduce %.0f ns, with the adapter %.3f times that\n", size, rounds, calls,
           1e9 * median(plain, rounds) / calls, median(ratio, rounds));
  MPI_Finalize();
  free(ratio);
  free(plain);
  return 0;
}
