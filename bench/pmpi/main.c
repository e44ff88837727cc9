/* The overhead of the MPI adapter per call.  With the adapter preloaded, chunks of MPI_Allreduce (intercepted),
 * PMPI_Allreduce (not intercepted) and the floor alternate; the results are median ratios of chunks of the same round.
 * The floor is the least that a timed wrapper must do: two readings of the processor's clock and an addition.
 *   mpirun -np 2 env LD_PRELOAD=libeffort_pmpi.so EFFORT_STEP=off bench_pmpi [ROUNDS [CALLS]] */
#include "rounds.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <x86intrin.h>
static uint64_t ticks(void) { return __rdtsc(); }
#else
static uint64_t ticks(void) { return (uint64_t)(1e9 * MPI_Wtime()); }
#endif

enum { direct, floor_wrapper, intercepted, ways };
static volatile uint64_t spent;

static __attribute__((noinline)) int timed_allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op,
                                                     MPI_Comm comm) {
  const uint64_t start = ticks();
  const int code = PMPI_Allreduce(in, out, n, type, op, comm);
  spent += ticks() - start;
  return code;
}

static double chunk(int way, int calls) {
  double x = 1, y;
  const double start = MPI_Wtime();
  if (way == direct)
    for (int i = 0; i < calls; ++i) PMPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else if (way == floor_wrapper)
    for (int i = 0; i < calls; ++i) timed_allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else
    for (int i = 0; i < calls; ++i) MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

int main(int argc, char** argv) {
  const int rounds = positive(argc, argv, 1, 3001), calls = positive(argc, argv, 2, 100);
  double* took[ways];
  for (int w = 0; w < ways; ++w) took[w] = times_of(rounds);
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int w = 0; w < ways; ++w) chunk(w, calls);
  for (int i = 0; i < rounds; ++i) {
    for (int k = 0; k < ways; ++k) { /* each goes first in turn */
      const int w = (i + k) % ways;
      took[w][i] = chunk(w, calls);
    }
    took[floor_wrapper][i] /= took[direct][i];
    took[intercepted][i] /= took[direct][i];
  }
  if (rank == 0)
    printf(
        "%d ranks, %d rounds of %d calls: PMPI_Allreduce %.0f ns, in the least wrapper %.3f times that, with the "
        "adapter %.3f times\n",
        size, rounds, calls, 1e9 * median(took[direct], rounds) / calls, median(took[floor_wrapper], rounds),
        median(took[intercepted], rounds));
  MPI_Finalize();
  for (int w = 0; w < ways; ++w) free(took[w]);
  return 0;
}
