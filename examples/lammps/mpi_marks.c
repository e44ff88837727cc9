/* LAMMPS does not report where it waits.  These definitions take precedence over those of the MPI library: they mark
 * the calls that can block and pass them on through the profiling interface. */
#include "mpi_marks.h"

#include <effort/effort.h>
#include <mpi.h>
#include <time.h>

static effort_region_id comm = -1;
static double in_mpi, entered;
static int depth;

double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double compute_seconds(void) { return cpu_seconds() - in_mpi; }

void mpi_marks_start(void) {
  if (effort_region("MPI", EFFORT_COMM, &comm) != EFFORT_OK) comm = -1;
}

void mpi_marks_stop(void) { comm = -1; }

static void enter(void) {
  if (depth++ > 0) return;
  if (comm > 0) effort_begin(comm);
  entered = cpu_seconds();
}

static int leave(int code) {
  if (--depth > 0) return code;
  in_mpi += cpu_seconds() - entered;
  if (comm > 0) effort_end(comm);
  return code;
}

#define MARK(name, parameters, arguments) \
  int MPI_##name parameters {             \
    enter();                              \
    return leave(PMPI_##name arguments);  \
  }

MARK(Send, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
MARK(Rsend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
MARK(Recv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s), (b, n, t, from, tag, c, s))
MARK(Sendrecv,
     (const void* b, int n, MPI_Datatype t, int to, int tag, void* r, int m, MPI_Datatype u, int from, int tag2,
      MPI_Comm c, MPI_Status* s),
     (b, n, t, to, tag, r, m, u, from, tag2, c, s))
MARK(Wait, (MPI_Request * r, MPI_Status* s), (r, s))
MARK(Waitall, (int n, MPI_Request* r, MPI_Status* s), (n, r, s))
MARK(Waitany, (int n, MPI_Request* r, int* i, MPI_Status* s), (n, r, i, s))
MARK(Barrier, (MPI_Comm c), (c))
MARK(Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
MARK(Allreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
MARK(Reduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c), (a, b, n, t, o, root, c))
MARK(Reduce_scatter, (const void* a, void* b, const int* n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
MARK(Scan, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
MARK(Gather, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int root, MPI_Comm c),
     (a, n, t, b, m, u, root, c))
MARK(Allgather, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
     (a, n, t, b, m, u, c))
MARK(Allgatherv,
     (const void* a, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u, MPI_Comm c),
     (a, n, t, b, m, d, u, c))
MARK(Alltoall, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
     (a, n, t, b, m, u, c))
