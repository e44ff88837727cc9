/* Six ranks that exchange in known patterns: a halo on 2 x 3 ranks, a ring, a reduction to all, and once, at the end, a
 * gather.  In one step a rank comes late to the halo.  patterns STEPS LATE_STEP LATE_RANK */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { columns = 3, rows = 2, length = 1000 };

static void halo(int rank) {
  static double in[4][length], out[4][length];
  MPI_Request requests[8];
  const int x = rank % columns, y = rank / columns;
  const int neighbours[4] = {x > 0 ? rank - 1 : -1, x + 1 < columns ? rank + 1 : -1, y > 0 ? rank - columns : -1,
                             y + 1 < rows ? rank + columns : -1};
  int n = 0;
  for (int side = 0; side < 4; ++side)
    if (neighbours[side] >= 0)
      MPI_Irecv(in[side], length, MPI_DOUBLE, neighbours[side], 1, MPI_COMM_WORLD, &requests[n++]);
  for (int side = 0; side < 4; ++side)
    if (neighbours[side] >= 0)
      MPI_Isend(out[side], length, MPI_DOUBLE, neighbours[side], 1, MPI_COMM_WORLD, &requests[n++]);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 4 || size != columns * rows) MPI_Abort(MPI_COMM_WORLD, 1);
  const int steps = atoi(argv[1]), late_step = atoi(argv[2]), late_rank = atoi(argv[3]);
  MPI_Barrier(MPI_COMM_WORLD); /* the first step begins here */
  for (int step = 0; step < steps; ++step) {
    const struct timespec late = {0, 300000000};
    if (step == late_step && rank == late_rank) nanosleep(&late, NULL);
    halo(rank);
    int mine = rank, other, sum;
    MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 2, &other, 1, MPI_INT, (rank + size - 1) % size, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int other = 1, mine = rank; other < size; ++other) {
    if (rank == 0) MPI_Recv(&mine, 1, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == other) MPI_Send(&mine, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
