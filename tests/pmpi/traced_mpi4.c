/* Functions that came with MPI 4, as far as this MPI has them. */
#include "traced.h"

#include <stddef.h>

#ifdef EFFORT_MPI_HAS_ISENDRECV
/* MPICH 4.0 leaves the status empty. */
static long bytes_of(const MPI_Status* status) {
  int n = 0;
  if (status->MPI_TAG >= 600) MPI_Get_count(status, MPI_INT, &n);
  return 4L * n;
}
static void exchanges(void) {
  int out[4] = {rank}, in[8] = {0}, flag = 0;
  MPI_Request r[2];
  MPI_Status status = {.MPI_TAG = -1};
  int send = starts("send_start", "world", next, 600, 16), receive = starts("receive_start", "world", before, 600, 0);
  MPI_Isendrecv(out, 4, MPI_INT, next, 600, in, 8, MPI_INT, before, 600, MPI_COMM_WORLD, &r[0]);
  MPI_Wait(&r[0], &status);
  sent(send);
  got(receive, "world", before, 600, bytes_of(&status));
  CHECK(in[0] == before);
  send = starts("send_start", "world", next, 601, 16);
  receive = starts("receive_start", "world", before, 601, 0);
  MPI_Isendrecv_replace(out, 4, MPI_INT, next, 601, before, 601, MPI_COMM_WORLD, &r[0]);
  do {
    let_others_run();
    MPI_Test(&r[0], &flag, &status);
  } while (!flag);
  sent(send);
  got(receive, "world", before, 601, bytes_of(&status));
  CHECK(out[0] == before);
  /* One half of it. */
  barrier();
  const int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  if (up >= 0) send = starts("send_start", "world", up, 602, 4);
  if (down >= 0) receive = starts("receive_start", "world", down, 602, 0);
  MPI_Isendrecv(out, 1, MPI_INT, up, 602, in, 1, MPI_INT, down, 602, MPI_COMM_WORLD, &r[0]);
  MPI_Waitall(1, r, &status);
  if (up >= 0) sent(send);
  if (down >= 0) got(receive, "world", down, 602, bytes_of(&status));
}
#endif

#ifdef EFFORT_MPI_HAS_PARTITIONED
static void partitioned(void) {
  static double out[8], in[8];
  MPI_Request r[2];
  const int last = 3;
  MPI_Psend_init(out, 4, 2, MPI_DOUBLE, next, 700, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Precv_init(in, 2, 4, MPI_DOUBLE, before, 700, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  for (int round = 0; round < 2; ++round) {
    int flag = 0;
    out[7] = round + 1;
    const int send = starts("send_start", "world", next, 700, 64),
              receive = starts("receive_start", "world", before, 700, 0);
    MPI_Startall(2, r);
    MPI_Pready(0, r[0]);
    MPI_Pready_range(1, 2, r[0]);
    MPI_Pready_list(1, (int*)&last, r[0]);
    do {
      let_others_run();
      MPI_Parrived(r[1], 1, &flag);
    } while (!flag);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    sent(send);
    got(receive, "world", before, 700, 64);
    CHECK(in[7] == round + 1);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
}
#endif

#ifdef EFFORT_MPI_HAS_PERSISTENT_COLLECTIVES
static void persistent_collectives(void) {
  static double out[64], in[64];
  static int counts[16], places[16];
  const int others = size - 1;
  MPI_Request r[4];
  int k = 0;
  for (int d = 1; d < size; d *= 2) ++k;
  for (int i = 0; i < size && i < 16; ++i) counts[i] = 1, places[i] = i;
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Bcast_init(out, 5, MPI_DOUBLE, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  MPI_Allreduce_init(out, in, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
  MPI_Alltoallv_init(out, counts, places, MPI_DOUBLE, in + 8, counts, places, MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &r[3]);
  for (int round = 0; round < 3; ++round) {
    expect("collective", "world", -1, 0, 0, 0, 0);
    MPI_Start(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    expect("collective", "world", size - 1, 0, rank == size - 1 ? 40 * others : 0, rank == size - 1 ? 0 : 40, 0);
    expect("collective", "world", -1, 0, 24 * k, 24 * k, 0);
    expect("collective", "world", -1, 0, 8 * others, 8 * others, 0);
    MPI_Startall(3, r + 1);
    MPI_Waitall(3, r + 1, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 4; ++i) MPI_Request_free(&r[i]);
}
#endif

#ifdef EFFORT_MPI_HAS_LARGE_COUNTS
static void large_counts(void) {
  static double out[64], in[64], memory[4];
  MPI_Count counts[16];
  MPI_Aint places[16];
  MPI_Request r[2];
  MPI_Win win;
  MPI_Status status;
  const int others = size - 1;
  int k = 0;
  for (int d = 1; d < size; d *= 2) ++k;
  for (int i = 0; i < size && i < 16; ++i) counts[i] = 1, places[i] = i;
  expect("send", "world", next, 800, 32, 0, 0);
  expect("receive", "world", before, 800, 32, 0, 0);
  MPI_Sendrecv_c(out, 4, MPI_DOUBLE, next, 800, in, 64, MPI_DOUBLE, before, 800, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == before);
  const int receive = starts("receive_start", "world", before, 801, 0),
            send = starts("send_start", "world", next, 801, 64);
  MPI_Irecv_c(in, 64, MPI_DOUBLE, before, 801, MPI_COMM_WORLD, &r[0]);
  MPI_Isend_c(out, 8, MPI_DOUBLE, next, 801, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  got(receive, "world", before, 801, 64);
  sent(send);
  expect("collective", "world", -1, 0, 16 * k, 16 * k, 0);
  MPI_Allreduce_c(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect("collective", "world", -1, 0, 8 * others, 8 * others, 0);
  MPI_Alltoallv_c(out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  expect("collective", "world", 0, 0, rank == 0 ? 24 * others : 0, rank == 0 ? 0 : 24, 0);
  MPI_Ibcast_c(out, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD, &r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  MPI_Bcast_init_c(out, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  expect("collective", "world", 0, 0, rank == 0 ? 16 * others : 0, rank == 0 ? 0 : 16, 0);
  MPI_Start(&r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  MPI_Request_free(&r[0]);
  MPI_Win_create_c(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  expect("collective", "world", -1, 0, 0, 0, 0);
  MPI_Win_fence(0, win);
  expect("one_sided", "world", next, 0, 16, 0, 0);
  MPI_Put_c(out, 2, MPI_DOUBLE, next, 0, 2, MPI_DOUBLE, win);
  expect("collective", "world", -1, 0, 0, 0, 0);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}
#endif

void since_mpi4(void) {
#ifdef EFFORT_MPI_HAS_ISENDRECV
  exchanges();
  barrier();
#endif
#ifdef EFFORT_MPI_HAS_PARTITIONED
  partitioned();
  barrier();
#endif
#ifdef EFFORT_MPI_HAS_PERSISTENT_COLLECTIVES
  persistent_collectives();
  barrier();
#endif
#ifdef EFFORT_MPI_HAS_LARGE_COUNTS
  large_counts();
  barrier();
#endif
}
