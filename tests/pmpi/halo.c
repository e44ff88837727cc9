/* A halo on a grid of WIDTH x HEIGHT ranks.  With FILE, the rank in slot i of the world is the i-th one in it, as a
 * launcher that reads an order of ranks would have it.  halo WIDTH HEIGHT [FILE] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 1000, rounds = 30 };

/* The i-th number of a file of numbers with commas and line ends between them; -1 if there are fewer. */
static int number_at(const char* path, int i) {
  FILE* file = fopen(path, "r");
  int number = -1;
  if (!file) return -1;
  for (; i >= 0; --i) {
    if (fscanf(file, "%d%*c", &number) != 1) number = -1;
  }
  fclose(file);
  return number;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int slot, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &slot);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int width = atoi(argv[1]), height = atoi(argv[2]);
  const int rank = argc > 3 ? number_at(argv[3], slot) : slot;
  if (width * height != ranks || rank < 0) {
    fprintf(stderr, "halo: %d ranks are no grid of %d x %d, or the order lacks rank %d\n", ranks, width, height, slot);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
  const int x = rank % width, y = rank / width;
  const int neighbour[4] = {x > 0 ? rank - 1 : MPI_PROC_NULL, x + 1 < width ? rank + 1 : MPI_PROC_NULL,
                            y > 0 ? rank - width : MPI_PROC_NULL, y + 1 < height ? rank + width : MPI_PROC_NULL};
  static double out[cells], in[4][cells];
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[8];
    for (int side = 0; side < 4; ++side) {
      MPI_Irecv(in[side], cells, MPI_DOUBLE, neighbour[side], 0, comm, &requests[side]);
      MPI_Isend(out, cells, MPI_DOUBLE, neighbour[side], 0, comm, &requests[4 + side]);
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < cells; ++i) out[i] = (in[0][i] + in[1][i] + in[2][i] + in[3][i]) / 4 + i;
    double sum = out[cells - 1];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
