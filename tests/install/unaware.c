/* A program that does not know the library. It is linked with the MPI adapter, so its calls are measured. */
#include <mpi.h>
#include <stdio.h>

/* Defined by the library if it is linked in, otherwise null. */
extern void* effort_adapter_port(const char* build) __attribute__((weak));

int main(int argc, char** argv) {
  int one = 1, all = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 20; ++i) MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (!effort_adapter_port || all != size) fprintf(stderr, "libeffort is not linked in\n");
  return !effort_adapter_port || all != size;
}
