/* A halo on a grid of WIDTH x HEIGHT ranks.  halo WIDTH HEIGHT */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 1000, rounds = 30 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int width = argc > 2 ? atoi(argv[1]) : 0, height = argc > 2 ? atoi(argv[2]) : 0;
  if (width * height != ranks) {
    fprintf(stderr, "halo: %d ranks are no grid of %d x %d\n", ranks, width, height);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int x = rank % width, y = rank / width;
  const int neighbour[4] = {x > 0 ? rank - 1 : MPI_PROC_NULL, x + 1 < width ? rank + 1 : MPI_PROC_NULL,
                            y > 0 ? rank - width : MPI_PROC_NULL, y + 1 < height ? rank + width : MPI_PROC_NULL};
  static double out[cells], in[4][cells];
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[8];
    for (int side = 0; side < 4; ++side) {
      MPI_Irecv(in[side], cells, MPI_DOUBLE, neighbour[side], 0, MPI_COMM_WORLD, &requests[side]);
      MPI_Isend(out, cells, MPI_DOUBLE, neighbour[side], 0, MPI_COMM_WORLD, &requests[4 + side]);
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < cells; ++i) out[i] = (in[0][i] + in[1][i] + in[2][i] + in[3][i]) / 4 + i;
    double sum = out[cells - 1];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
