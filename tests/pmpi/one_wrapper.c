/* A program that calls MPI through one function of its own, from 200 places.  In each of 60 rounds, place s is passed
 * if the round is a multiple of 1 + s % 4; the order of the places changes from round to round. */
#include <mpi.h>

enum { places = 200, rounds = 60 };

static __attribute__((noinline)) void add(double* x) {
  double sum;
  MPI_Allreduce(x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  *x = sum > 1e9 ? 1 : sum;
}

/* The assembler comments keep the compiler from merging equal calls. */
#define PLACE(n)                                    \
  case n:                                           \
    add(x);                                         \
    __asm__ volatile("# %0" : : "i"(n) : "memory"); \
    break;
#define PLACES_4(n) PLACE(n) PLACE(n + 1) PLACE(n + 2) PLACE(n + 3)
#define PLACES_20(n) PLACES_4(n) PLACES_4(n + 4) PLACES_4(n + 8) PLACES_4(n + 12) PLACES_4(n + 16)
#define PLACES_100(n) PLACES_20(n) PLACES_20(n + 20) PLACES_20(n + 40) PLACES_20(n + 60) PLACES_20(n + 80)

static __attribute__((noinline)) void pass(int place, double* x) {
  switch (place) { PLACES_100(0) PLACES_100(100) }
}

int main(int argc, char** argv) {
  double x = 1;
  MPI_Init(&argc, &argv);
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < places; ++i) {
      const int place = (77 * i + 13 * round) % places;
      if (round % (1 + place % 4) == 0) pass(place, &x);
    }
  MPI_Finalize();
  return 0;
}
