/* The overhead of the MPI adapter per call.  With the adapter preloaded, chunks of MPI_Allreduce (intercepted),
 * PMPI_Allreduce (not intercepted) and the floor alternate; the results are median ratios of chunks of the same round.
 * The floor is the least that a timed wrapper must do: two readings of the processor's clock and an addition.  Last,
 * intercepted calls are made through one function from 512 places, each of which is followed by one of four at random.
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

enum { direct, floor_wrapper, intercepted, scattered, ways };
static volatile uint64_t spent;

static __attribute__((noinline)) int timed_allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op,
                                                     MPI_Comm comm) {
  const uint64_t start = ticks();
  const int code = PMPI_Allreduce(in, out, n, type, op, comm);
  spent += ticks() - start;
  return code;
}

static __attribute__((noinline)) void add(double* x, double* y) {
  MPI_Allreduce(x, y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  *y = 0; /* or the call would be made from this function's caller */
}

/* The assembler comments keep the compiler from merging equal calls. */
#define PLACE(n)                                    \
  case n:                                           \
    add(x, y);                                      \
    __asm__ volatile("# %0" : : "i"(n) : "memory"); \
    break;
#define PLACES_8(n) PLACE(n) PLACE(n + 1) PLACE(n + 2) PLACE(n + 3) PLACE(n + 4) PLACE(n + 5) PLACE(n + 6) PLACE(n + 7)
#define PLACES_64(n) \
  PLACES_8(n)        \
  PLACES_8(n + 8) PLACES_8(n + 16) PLACES_8(n + 24) PLACES_8(n + 32) PLACES_8(n + 40) PLACES_8(n + 48) PLACES_8(n + 56)

static __attribute__((noinline)) void add_from(unsigned place, double* x, double* y) {
  switch (place) {
    PLACES_64(0) PLACES_64(64) PLACES_64(128) PLACES_64(192) PLACES_64(256) PLACES_64(320) PLACES_64(384) PLACES_64(448)
  }
}

static double chunk(int way, int calls) {
  static const unsigned strides[] = {1, 3, 77, 201};
  static uint64_t random = 1;
  static unsigned place = 0;
  double x = 1, y;
  const double start = MPI_Wtime();
  if (way == direct)
    for (int i = 0; i < calls; ++i) PMPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else if (way == floor_wrapper)
    for (int i = 0; i < calls; ++i) timed_allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else if (way == scattered)
    for (int i = 0; i < calls; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      place = (place + strides[random >> 62]) % 512;
      add_from(place, &x, &y);
    }
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
    took[scattered][i] /= took[direct][i];
  }
  if (rank == 0)
    printf(
        "%d ranks, %d rounds of %d calls: PMPI_Allreduce %.0f ns, in the least wrapper %.3f times that, with the "
        "adapter %.3f times, from scattered places %.3f times\n",
        size, rounds, calls, 1e9 * median(took[direct], rounds) / calls, median(took[floor_wrapper], rounds),
        median(took[intercepted], rounds), median(took[scattered], rounds));
  MPI_Finalize();
  for (int w = 0; w < ways; ++w) free(took[w]);
  return 0;
}
