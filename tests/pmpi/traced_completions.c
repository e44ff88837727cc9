/* All ways to complete a request, or not to. */
#include "traced.h"

#include <stddef.h>

static int in[6], out = 7;
static MPI_Request r[6];
static int n[6];

static void post(int i) {
  n[i] = starts("receive_start", "world", before, 100 + i, 0);
  MPI_Irecv(&in[i], 1, MPI_INT, before, 100 + i, MPI_COMM_WORLD, &r[i]);
}
static void post_all(void) {
  for (int i = 0; i < 6; ++i) post(i);
}
static void send_to_next(int i) {
  expect("send", "world", next, 100 + i, 4, 0, 0);
  MPI_Send(&out, 1, MPI_INT, next, 100 + i, MPI_COMM_WORLD);
}
static void arrived(int i) { got(n[i], "world", before, 100 + i, 4); }

/* Nothing is done yet: no call has an effect, and none writes what the host must not read. */
static void in_vain(void) {
  int flag = 1, index = -5, outcount = -5, indices[6];
  MPI_Status status[6];
  post_all();
  MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
  CHECK(!flag);
  MPI_Testany(6, r, &index, &flag, &status[0]);
  CHECK(!flag && index == MPI_UNDEFINED);
  MPI_Testall(6, r, &flag, MPI_STATUSES_IGNORE);
  CHECK(!flag);
  MPI_Testsome(6, r, &outcount, indices, MPI_STATUSES_IGNORE);
  CHECK(outcount == 0);
  MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE);
  CHECK(!flag);
  barrier(); /* now the messages come */
}

static void some(void) {
  MPI_Status status[6];
  int flag = 0, index = -1, outcount = 0, indices[6], left = 6;
  in_vain();
  barrier(); /* the ranks go on together, so that only one message is under way at a time */
  send_to_next(3);
  MPI_Waitany(6, r, &index, MPI_STATUS_IGNORE);
  CHECK(index == 3 && r[3] == MPI_REQUEST_NULL);
  arrived(3);
  barrier();
  send_to_next(5);
  do {
    let_others_run();
    MPI_Testany(6, r, &index, &flag, &status[0]);
  } while (!flag);
  CHECK(index == 5 && status[0].MPI_SOURCE == before && status[0].MPI_TAG == 105);
  arrived(5);
  barrier();
  send_to_next(0);
  MPI_Waitsome(6, r, &outcount, indices, MPI_STATUSES_IGNORE);
  CHECK(outcount == 1 && indices[0] == 0);
  arrived(0);
  barrier();
  send_to_next(4);
  do {
    let_others_run();
    MPI_Testsome(6, r, &outcount, indices, status);
  } while (outcount == 0);
  CHECK(outcount == 1 && indices[0] == 4 && status[0].MPI_TAG == 104);
  arrived(4);
  barrier();
  send_to_next(1);
  do {
    let_others_run();
    MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);
  } while (!flag);
  arrived(1);
  barrier();
  send_to_next(2);
  do {
    let_others_run();
    MPI_Testall(6, r, &flag, MPI_STATUSES_IGNORE);
  } while (!flag);
  arrived(2);
  for (int i = 0; i < 6; ++i) left -= r[i] == MPI_REQUEST_NULL;
  CHECK(left == 0);
  MPI_Waitany(6, r, &index, &status[0]);
  MPI_Waitsome(6, r, &outcount, indices, status);
  CHECK(index == MPI_UNDEFINED && outcount == MPI_UNDEFINED);
}

/* A look at a request completes it for the trace, but not for the host. */
static void looks(void) {
  MPI_Status status;
  int flag = 0;
  post(0);
  barrier();
  send_to_next(0);
  do {
    let_others_run();
    MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE);
  } while (!flag);
  arrived(0);
  CHECK(r[0] != MPI_REQUEST_NULL);
  MPI_Request_get_status(r[0], &flag, &status);
  MPI_Wait(&r[0], &status);
  CHECK(status.MPI_SOURCE == before && status.MPI_TAG == 100);
}

static void without_end(void) {
  MPI_Status status;
  int cancelled = 0;
  for (int i = 0; i < 2; ++i) { /* no rank sends what they wait for */
    n[i] = starts("receive_start", "world", before, 900, 0);
    MPI_Irecv(&in[i], 1, MPI_INT, before, 900, MPI_COMM_WORLD, &r[i]);
    MPI_Cancel(&r[i]);
  }
  MPI_Wait(&r[0], &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(cancelled);
  lost(n[0]);
  MPI_Request_free(&r[1]);
  CHECK(r[1] == MPI_REQUEST_NULL);
  lost(n[1]);
  /* A receive that is freed still takes its message. */
  n[3] = starts("receive_start", "world", before, 302, 0);
  MPI_Irecv(&in[3], 1, MPI_INT, before, 302, MPI_COMM_WORLD, &r[3]);
  MPI_Request_free(&r[3]);
  got(n[3], "world", before, 302, 0);
  expect("send", "world", next, 302, 4, 0, 0);
  MPI_Send(&out, 1, MPI_INT, next, 302, MPI_COMM_WORLD);
  barrier();
  /* A request that was cancelled too late. */
  post(2);
  send_to_next(2);
  barrier();
  int flag = 0;
  do {
    let_others_run();
    MPI_Request_get_status(r[2], &flag, MPI_STATUS_IGNORE);
  } while (!flag);
  arrived(2);
  MPI_Cancel(&r[2]);
  MPI_Wait(&r[2], MPI_STATUS_IGNORE);
  /* Sends whose request the host does not keep. */
  n[3] = starts("send_start", "world", next, 910, 4);
  MPI_Isend(&out, 1, MPI_INT, next, 910, MPI_COMM_WORLD, &r[3]);
  MPI_Request_free(&r[3]);
  sent(n[3]);
  static double large_out[30000], large_in[30000];
  n[4] = starts("send_start", "world", next, 911, 240000);
  MPI_Isend(large_out, 30000, MPI_DOUBLE, next, 911, MPI_COMM_WORLD, &r[4]);
  MPI_Request_free(&r[4]);
  sent(n[4]);
  expect("receive", "world", before, 910, 4, 0, 0);
  MPI_Recv(&in[0], 1, MPI_INT, before, 910, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("receive", "world", before, 911, 240000, 0, 0);
  MPI_Recv(large_in, 30000, MPI_DOUBLE, before, 911, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void persistent(void) {
  int x = rank, y[2] = {-1, -1};
  MPI_Send_init(&x, 1, MPI_INT, next, 200, MPI_COMM_WORLD, &r[0]);
  MPI_Recv_init(&y[0], 1, MPI_INT, MPI_ANY_SOURCE, 200, MPI_COMM_WORLD, &r[1]);
  MPI_Ssend_init(&x, 1, MPI_INT, next, 201, MPI_COMM_WORLD, &r[2]);
  MPI_Recv_init(&y[1], 2, MPI_INT, before, MPI_ANY_TAG, MPI_COMM_WORLD, &r[3]);
  for (int round = 0; round < 3; ++round) {
    n[0] = starts("send_start", "world", next, 200, 4);
    n[1] = starts("receive_start", "world", -1, 200, 0);
    MPI_Startall(2, r);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE); /* two of them are inactive */
    sent(n[0]);
    got(n[1], "world", before, 200, 4);
    n[3] = starts("receive_start", "world", before, -1, 0);
    MPI_Start(&r[3]);
    barrier();
    n[2] = starts("send_start", "world", next, 201, 4);
    MPI_Start(&r[2]);
    MPI_Wait(&r[3], MPI_STATUS_IGNORE);
    got(n[3], "world", before, 201, 4);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    sent(n[2]);
    CHECK(r[2] != MPI_REQUEST_NULL && y[0] == before && y[1] == before);
    barrier();
  }
  for (int i = 0; i < 4; ++i) MPI_Request_free(&r[i]);
}

/* A message that is too long for its receive, for a host that continues after errors. */
static __attribute__((unused)) void errors(void) {
  MPI_Comm comm;
  int codes[2], long_out[4] = {0}, short_in[2] = {0};
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2; ++i) { /* the second round's receives do without the library */
      if (round == 0) n[i] = starts("receive_start", "careful", before, 300 + i, 0);
      if (round == 0) MPI_Irecv(short_in + i, 1, MPI_INT, before, 300 + i, comm, &r[i]);
      if (round == 1) PMPI_Irecv(short_in + i, 1, MPI_INT, before, 300 + i, comm, &r[i]);
    }
    expect("send", "careful", next, 301, 4, 0, 0);
    MPI_Send(long_out, 1, MPI_INT, next, 301, comm);
    expect("send", "careful", next, 300, 16, 0, 0);
    MPI_Send(long_out, 4, MPI_INT, next, 300, comm);
    codes[round] = round == 0 ? MPI_Waitall(2, r, MPI_STATUSES_IGNORE) : PMPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) /* those that MPICH leaves after an error */
      if (r[i] != MPI_REQUEST_NULL)
        round == 0 ? MPI_Wait(&r[i], MPI_STATUS_IGNORE) : PMPI_Wait(&r[i], MPI_STATUS_IGNORE);
    if (round == 0) {
      got(n[0], "careful", before, 300, 0); /* its message is gone */
      got(n[1], "careful", before, 301, 4);
    }
    CHECK(codes[round] != MPI_SUCCESS);
    barrier();
  }
  CHECK(codes[0] == codes[1]);
  for (int kind = 0; kind < 3; ++kind) { /* blocking receives */
    const int tag = 310 + kind;
    int code = MPI_SUCCESS;
    MPI_Message message;
    expect("send", "careful", next, tag, 16, 0, 0);
    expect("receive", "careful", before, tag, 0, 0, 0);
    if (kind != 1) MPI_Send(long_out, 4, MPI_INT, next, tag, comm);
    if (kind == 0) code = MPI_Recv(short_in, 1, MPI_INT, before, tag, comm, MPI_STATUS_IGNORE);
    if (kind == 1)
      code = MPI_Sendrecv(long_out, 4, MPI_INT, next, tag, short_in, 1, MPI_INT, before, tag, comm, MPI_STATUS_IGNORE);
    if (kind == 2) MPI_Mprobe(before, tag, comm, &message, MPI_STATUS_IGNORE);
    if (kind == 2) code = MPI_Mrecv(short_in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(code != MPI_SUCCESS);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&comm);
}

void completions(void) {
  some();
  barrier();
  looks();
  barrier();
  without_end();
  barrier();
  persistent();
  barrier();
  /* In Open MPI 4.1, a Waitall with an error never returns if MPI_THREAD_MULTIPLE is granted; in 6.0, it sometimes
   * reports no error, also without the library. */
#if !defined OMPI_MAJOR_VERSION || OMPI_MAJOR_VERSION < 6
  if (!multiple) errors();
#endif
  barrier();
}
