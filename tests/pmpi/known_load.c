/* A program that does not know the library. It exchanges halos, sums over all ranks, and computes the set load.
 * known_load STEPS [pcontrol|duplicate|poll|rooted|checksums|rebuilds|traps]
 * With "rebuilds", five of six steps do a quarter of their work. */
#define _GNU_SOURCE
#include "known_load.h"

#include <fenv.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static MPI_Request never;
static int came;
static void test(void) { MPI_Testall(1, &never, &came, MPI_STATUSES_IGNORE); }
static void probe(void) { MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &came, MPI_STATUS_IGNORE); }

/* Polls for half the duration of the step's computation for a message that is sent only afterwards. Returns whether the
 * message arrived when it should. */
static int poll_in_vain(int rank, int step) {
  int token = step, received = -1;
  MPI_Irecv(&received, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &never);
  poll_share(rank, step, 0.5, step % 2 ? probe : test);
  const int too_early = came;
  MPI_Send(&token, 1, MPI_INT, rank, 8, MPI_COMM_WORLD);
  MPI_Wait(&never, MPI_STATUS_IGNORE);
  return !too_early && received == step;
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 48;
  const char* variant = argc > 2 ? argv[2] : "";
  const int traps = strcmp(variant, "traps") == 0 ? FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW : 0;
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  /* Its MPI_Init traps in libxml2, also without the adapter. */
  MPI_Init(&argc, &argv);
  feenableexcept(traps);
#else
  feenableexcept(traps);
  MPI_Init(&argc, &argv);
#endif
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm all = MPI_COMM_WORLD;
  if (strcmp(variant, "duplicate") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &all);
  const int poll = strcmp(variant, "poll") == 0;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int wrong = 0;
  for (int step = 0; step < steps; ++step) {
    const double share = strcmp(variant, "rebuilds") == 0 && step % 6 < 5 ? 0.25 : 1; /* as if lists were rebuilt */
    compute_share(rank, step, 0.6 * share);
    if (poll) wrong |= !poll_in_vain(rank, step);
    double mine = rank + 100.0 * step, theirs = -1, sum = 0;
    MPI_Request requests[2];
    MPI_Irecv(&theirs, 1, MPI_DOUBLE, before, 7, all, &requests[0]);
    MPI_Isend(&mine, 1, MPI_DOUBLE, next, 7, all, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    const int checksums = strcmp(variant, "checksums") == 0 ? 8 : 1; /* as if one per variable */
    for (int i = 0; i < checksums; ++i) {
      compute_share(rank, step, 0.4 * share / checksums);
      if (strcmp(variant, "rooted") != 0) MPI_Allreduce(&theirs, &sum, 1, MPI_DOUBLE, MPI_SUM, all);
    }
    if (strcmp(variant, "rooted") == 0) {
      MPI_Reduce(&theirs, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, all);
      MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, all);
    }
    wrong |= theirs != before + 100.0 * step || sum != size * (size - 1) / 2.0 + 100.0 * step * size;
    if (strcmp(variant, "pcontrol") == 0) {
      MPI_Pcontrol(0);
      if (step == steps / 2 - 1) MPI_Pcontrol(2);
    }
  }
  if (all != MPI_COMM_WORLD) MPI_Comm_free(&all);
  MPI_Finalize();
  return wrong;
}
