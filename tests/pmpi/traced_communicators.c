/* Communicators of all kinds.  Their names here are the same on all members. */
#include "traced.h"

#include <stddef.h>

/* To the next rank of the communicator and back from the one before, whose ranks in MPI_COMM_WORLD are given. */
static void ring(MPI_Comm comm, const char* name, int to, int from) {
  int me, n, x = 1, y = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  expect("send", name, to, 400, 4, 0, 0);
  expect("receive", name, from, 400, 4, 0, 0);
  MPI_Sendrecv(&x, 1, MPI_INT, (me + 1) % n, 400, &y, 1, MPI_INT, MPI_ANY_SOURCE, 400, comm, MPI_STATUS_IGNORE);
  const int request = starts("receive_start", name, from, 401, 0);
  MPI_Request r;
  MPI_Irecv(&y, 1, MPI_INT, (me + n - 1) % n, 401, comm, &r);
  expect("send", name, to, 401, 4, 0, 0);
  MPI_Send(&x, 1, MPI_INT, (me + 1) % n, 401, comm);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  got(request, name, from, 401, 4);
  CHECK(y == 1);
}

static void copies(void) {
  MPI_Comm a, b, c, of_b;
  MPI_Request r;
  MPI_Comm_dup(MPI_COMM_WORLD, &a);
  MPI_Comm_dup(MPI_COMM_WORLD, &b);
  MPI_Comm_idup(MPI_COMM_WORLD, &c, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Comm_dup(b, &of_b);
  if (rank % 2) { /* the order in which they are used does not matter */
    ring(a, "copy-a", next, before);
    ring(b, "copy-b", next, before);
  } else {
    ring(a, "copy-a", next, before);
    ring(b, "copy-b", next, before);
  }
  ring(c, "copy-c", next, before);
  ring(of_b, "copy-of-b", next, before);
  MPI_Comm_free(&b);
  MPI_Comm_dup(MPI_COMM_WORLD, &b); /* the handle may be that of the freed one */
  ring(b, "copy-d", next, before);
  MPI_Comm_free(&a);
  MPI_Comm_free(&b);
  MPI_Comm_free(&c);
  MPI_Comm_free(&of_b);
}

static void parts(void) {
  MPI_Comm reversed, half, nobody, group_comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  ring(reversed, "reversed", before, next);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &half);
  if (rank > 0) {
    ring(half, "half", rank + 1 < size ? rank + 1 : 1, rank > 1 ? rank - 1 : size - 1);
    MPI_Comm_free(&half);
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &nobody); /* equal members, another communicator */
  if (rank > 0) {
    ring(nobody, "other-half", rank + 1 < size ? rank + 1 : 1, rank > 1 ? rank - 1 : size - 1);
    MPI_Comm_free(&nobody);
  }
  /* By a call of some ranks only. */
  MPI_Group world, two;
  const int ends[2] = {size - 1, 0};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, ends, &two);
  if (rank == 0 || rank == size - 1) {
    MPI_Comm_create_group(MPI_COMM_WORLD, two, 3, &group_comm);
    ring(group_comm, "ends", rank == 0 ? size - 1 : 0, rank == 0 ? size - 1 : 0);
    MPI_Comm_free(&group_comm);
  }
  MPI_Group_free(&two);
  MPI_Group_free(&world);
  MPI_Comm_dup(MPI_COMM_WORLD, &half); /* the parent's calls are counted alike on all ranks */
  ring(half, "late-copy", next, before);
  MPI_Comm_free(&half);
  MPI_Comm_free(&reversed);
}

/* Rank 0 on one side, all others on the other. */
static void between_groups(void) {
  const int left = rank == 0;
  MPI_Comm side, inter, merged;
  MPI_Comm_split(MPI_COMM_WORLD, left, 0, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, left ? 1 : 0, 9, &inter);
  int x = 0, y = 0;
  if (left || rank == size - 1) {
    const int peer = left ? size - 1 : 0, remote = left ? size - 2 : 0;
    expect("send", "inter", peer, 500, 4, 0, 0);
    expect("receive", "inter", peer, 500, 4, 0, 0);
    MPI_Sendrecv(&x, 1, MPI_INT, remote, 500, &y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, MPI_STATUS_IGNORE);
  }
  expect("collective", "inter", 0, 0, left ? 8 * (size - 1) : 0, left ? 0 : 8, 0);
  double value = 0;
  MPI_Bcast(&value, 1, MPI_DOUBLE, left ? MPI_ROOT : 0, inter);
  const int remote_root = rank == 1 ? MPI_ROOT : left ? 0 : MPI_PROC_NULL;
  double all[2] = {0};
  expect("collective", "inter", left || rank == 1 ? 1 : -1, 0, left ? 8 : 0, rank == 1 ? 8 : 0, 0);
  MPI_Gather(&value, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, remote_root, inter);
  expect("collective", "inter", -1, 0, 8, 8, 0);
  MPI_Allreduce(&value, all, 1, MPI_DOUBLE, MPI_SUM, inter);
  MPI_Intercomm_merge(inter, !left, &merged);
  ring(merged, "merged", next, before);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&inter);
  MPI_Comm_free(&side);
}

void communicators(void) {
  copies();
  barrier();
  parts();
  barrier();
  between_groups();
  barrier();
}
