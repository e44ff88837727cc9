/* Blocking and non-blocking messages, matched probes, MPI_PROC_NULL. */
#include "traced.h"

#include <stddef.h>

static void blocking(void) {
  int out[4] = {rank}, in[8] = {0};
  MPI_Status status;
  expect("send", "world", next, 5, 16, 0, 0);
  expect("receive", "world", before, 5, 16, 0, 0);
  MPI_Sendrecv(out, 4, MPI_INT, next, 5, in, 8, MPI_INT, before, 5, MPI_COMM_WORLD, &status);
  int n = 0;
  MPI_Get_count(&status, MPI_INT, &n);
  CHECK(status.MPI_SOURCE == before && status.MPI_TAG == 5 && n == 4 && in[0] == before);
  expect("send", "world", next, 6, 16, 0, 0);
  expect("receive", "world", before, 6, 16, 0, 0);
  MPI_Sendrecv_replace(out, 4, MPI_INT, next, 6, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(out[0] == before);
  MPI_Datatype column; /* 3 of 9 doubles */
  MPI_Type_vector(3, 1, 3, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  double matrix[9] = {0};
  for (int i = 0; i < 4; ++i) {
    if (rank == 0) {
      expect("send", "world", 1, 20 + i, 24, 0, 0);
      if (i == 0) MPI_Send(matrix, 1, column, 1, 20, MPI_COMM_WORLD);
      if (i == 1) MPI_Ssend(matrix, 1, column, 1, 21, MPI_COMM_WORLD);
      if (i == 2) MPI_Send(matrix, 3, MPI_DOUBLE, 1, 22, MPI_COMM_WORLD);
      if (i == 3) MPI_Ssend(matrix, 3, MPI_DOUBLE, 1, 23, MPI_COMM_WORLD);
    }
    if (rank == 1) {
      expect("receive", "world", 0, 20 + i, 24, 0, 0);
      if (i < 2) MPI_Recv(matrix, 9, MPI_DOUBLE, 0, 20 + i, MPI_COMM_WORLD, &status);
      if (i >= 2) MPI_Recv(matrix, 9, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Type_free(&column);
}

static void non_blocking(void) {
  static double out[20000], in[3][20000];
  MPI_Request r[6];
  int n[6];
  for (int round = 0; round < 3; ++round) {
    const int length[3] = {1, 100, 20000}; /* completed at once, eager, rendezvous */
    for (int i = 0; i < 3; ++i) {
      if (i == 1) barrier(); /* only what comes now can match any tag */
      n[i] = starts("receive_start", "world", i == 1 ? -1 : before, i == 1 ? -1 : 30 + i, 0);
      MPI_Irecv(in[i], 20000, MPI_DOUBLE, i == 1 ? MPI_ANY_SOURCE : before, i == 1 ? MPI_ANY_TAG : 30 + i,
                MPI_COMM_WORLD, &r[i]);
      if (i == 1) barrier();
      n[3 + i] = starts("send_start", "world", next, 30 + i, 8 * length[i]);
      MPI_Isend(out, length[i], MPI_DOUBLE, next, 30 + i, MPI_COMM_WORLD, &r[3 + i]);
    }
    MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; ++i) got(n[i], "world", before, 30 + i, 8 * length[i]);
    for (int i = 3; i < 6; ++i) sent(n[i]);
    for (int i = 0; i < 6; ++i) CHECK(r[i] == MPI_REQUEST_NULL);
  }
}

/* Open MPI gives all of these the same request. */
static void small_sends(void) {
  char x[5] = {0}, y;
  MPI_Request r[5];
  int n[5];
  for (int i = 0; i < 5; ++i) {
    n[i] = starts("send_start", "world", next, 40 + i, 1);
    MPI_Isend(&x[i], 1, MPI_CHAR, next, 40 + i, MPI_COMM_WORLD, &r[i]);
  }
  for (int i = 0; i < 5; ++i) {
    expect("receive", "world", before, 40 + i, 1, 0, 0);
    MPI_Recv(&y, 1, MPI_CHAR, before, 40 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  /* If they share the handle, it is unknown which of them a Wait completes; the newest is taken. */
  const int alike = r[0] == r[1] && r[1] == r[2] && r[2] == r[3] && r[3] == r[4];
  for (int i = 0; i < 5; ++i) {
    MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    sent(alike ? n[4 - i] : n[i]);
  }
}

static void matched_probes(void) {
  int x = rank, y = -1, flag = 0;
  MPI_Message message;
  MPI_Status status;
  MPI_Request r;
  expect("send", "world", next, 50, 4, 0, 0);
  MPI_Send(&x, 1, MPI_INT, next, 50, MPI_COMM_WORLD);
  MPI_Mprobe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(&y, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  expect("receive", "world", before, 50, 4, 0, 0);
  CHECK(y == before && message == MPI_MESSAGE_NULL);
  expect("send", "world", next, 51, 4, 0, 0);
  MPI_Send(&x, 1, MPI_INT, next, 51, MPI_COMM_WORLD);
  MPI_Probe(MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, &status);
  MPI_Iprobe(MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK(flag && status.MPI_SOURCE == before);
  do {
    let_others_run();
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
  } while (!flag);
  CHECK(status.MPI_SOURCE == before && status.MPI_TAG == 51);
  const int n = starts("receive_start", "world", before, 51, 0);
  MPI_Imrecv(&y, 1, MPI_INT, &message, &r);
  MPI_Wait(&r, &status);
  got(n, "world", before, 51, 4);
  CHECK(status.MPI_SOURCE == before && status.MPI_TAG == 51);
}

static void nobody(void) {
  int x = 0, y = 0;
  MPI_Request r[3];
  MPI_Status status;
  MPI_Message message;
  MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Recv(&y, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(&y, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[1]);
  MPI_Send_init(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[2]);
  MPI_Start(&r[2]);
  MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
  MPI_Request_free(&r[2]);
  MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(&y, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  /* A line of ranks: the ends talk to one neighbour only. */
  const int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  if (up >= 0) expect("send", "world", up, 60, 4, 0, 0);
  if (down >= 0) expect("receive", "world", down, 60, 4, 0, 0);
  MPI_Sendrecv(&x, 1, MPI_INT, up, 60, &y, 1, MPI_INT, down, 60, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == down);
}

void messages(void) {
  blocking();
  barrier();
  non_blocking();
  barrier();
  small_sends();
  barrier();
  matched_probes();
  barrier();
  nobody();
  barrier();
}
