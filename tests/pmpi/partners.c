/* Messages of all kinds between ranks, a few of which a trace keeps: blocking, from any rank, non-blocking, persistent,
 * between two groups, to MPI_PROC_NULL.  In every step each rank talks to its neighbours and to the rank opposite, and
 * loads differ, so that the trace keeps some ranks for various reasons. */
#include <mpi.h>

enum { steps = 60, tags = 5 };
static int rank, size, next, before, opposite;
static double value[4], got[8];
static volatile double sink;

static void compute(void) {
  for (int i = 0; i < 3000 * (1 + rank % 4); ++i) sink += 1e-9 * i;
}

static void blocking(void) {
  const int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  MPI_Sendrecv(value, 1, MPI_DOUBLE, up, 1, got, 4, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(value, 1 + rank % 4, MPI_DOUBLE, next, 2, MPI_COMM_WORLD);
  MPI_Recv(got, 4, MPI_DOUBLE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void from_anyone(int step) {
  MPI_Request r[4];
  MPI_Irecv(got, 4, MPI_DOUBLE, MPI_ANY_SOURCE, 10 + step % tags, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(got + 4, 4, MPI_DOUBLE, MPI_ANY_SOURCE, 10 + step % tags, MPI_COMM_WORLD, &r[1]);
  MPI_Isend(value, 1, MPI_DOUBLE, next, 10 + step % tags, MPI_COMM_WORLD, &r[2]);
  MPI_Isend(value, 2, MPI_DOUBLE, before, 10 + step % tags, MPI_COMM_WORLD, &r[3]);
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

/* Even and odd ranks. */
static void between_groups(MPI_Comm inter) {
  int remote;
  MPI_Comm_remote_size(inter, &remote);
  if (rank / 2 < remote)
    MPI_Sendrecv(value, 3, MPI_DOUBLE, rank / 2, 20, got, 4, MPI_DOUBLE, MPI_ANY_SOURCE, 20, inter, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  opposite = size - 1 - rank;
  MPI_Comm side, inter, reversed;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &inter);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Request persistent[2];
  MPI_Send_init(value, 2, MPI_DOUBLE, opposite, 30, MPI_COMM_WORLD, &persistent[0]);
  MPI_Recv_init(got, 4, MPI_DOUBLE, MPI_ANY_SOURCE, 30, MPI_COMM_WORLD, &persistent[1]);
  for (int step = 0; step < steps; ++step) {
    compute();
    blocking();
    from_anyone(step);
    between_groups(inter);
    /* The rank of the same number, counted from the other end. */
    MPI_Sendrecv(value, 4, MPI_DOUBLE, rank, 40, got, 4, MPI_DOUBLE, rank, 40, reversed, MPI_STATUS_IGNORE);
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Request_free(&persistent[0]);
  MPI_Request_free(&persistent[1]);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&side);
  MPI_Finalize();
  return 0;
}
