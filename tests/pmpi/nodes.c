/* Preloaded: ranks sit on simulated nodes of NODES_SIZE slots in the order of the file NODES_ORDER, as if a launcher
 * had read it: numbers with commas or line ends between them, the ranks of one node after those of another. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int slot_of(int rank) {
  FILE* file = fopen(getenv("NODES_ORDER"), "r");
  int slot = 0, at_slot = -1;
  while (file && fscanf(file, "%d%*c", &at_slot) == 1 && at_slot != rank) ++slot;
  if (file) fclose(file);
  if (at_slot != rank) {
    fprintf(stderr, "nodes: the order of ranks lacks rank %d\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return slot;
}

/* Unlike Open MPI's, MPICH's header does not make the library's functions visible. */
__attribute__((visibility("default"))) int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                                                MPI_Comm* node) {
  (void)type, (void)info;
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return PMPI_Comm_split(comm, slot_of(rank) / atoi(getenv("NODES_SIZE")), key, node);
}
