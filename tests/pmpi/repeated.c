/* The same exchanges in every step, of sizes that grow from step to step: 100 bytes and one more for each step. */
#include <mpi.h>

enum { steps = 150, exchanges = 10 };
static char buffer[100 + steps];
static volatile double sink;

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < exchanges; ++i) {
      for (int k = 0; k < 2000; ++k) sink += 1e-9 * k;
      MPI_Sendrecv(buffer, 100 + step, MPI_CHAR, (rank + 1) % size, i, buffer, sizeof buffer, MPI_CHAR,
                   (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
