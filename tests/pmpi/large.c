/* Messages of more than 2 GiB, with counts that fit an int and, where MPI has them, with larger ones.  No such data is
 * moved: this program's own PMPI_ functions send nothing in their place, and report to the receiver that everything has
 * arrived. */
#define _GNU_SOURCE
#include "expected_events.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

enum { megabyte = 1 << 20, count = 5000 };
static const long bytes = 8L * megabyte * count; /* 42 GB */
static MPI_Datatype large;                       /* a megabyte of doubles */
static int rank, size, next, before, wrong;

#define CHECK(condition) \
  if (!(condition)) wrong = __LINE__
#define REPLACES_MPI __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&P##name))dlsym(RTLD_NEXT, "P" #name))

static int set_bytes(int result, MPI_Status* status, long n) {
  return result == MPI_SUCCESS && status != MPI_STATUS_IGNORE ? MPI_Status_set_elements_x(status, MPI_BYTE, n) : result;
}
REPLACES_MPI int PMPI_Send(const void* buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return REAL(MPI_Send)(buf, type == large ? 0 : n, type, to, tag, comm);
}
REPLACES_MPI int PMPI_Isend(const void* buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                            MPI_Request* request) {
  return REAL(MPI_Isend)(buf, type == large ? 0 : n, type, to, tag, comm, request);
}
REPLACES_MPI int PMPI_Recv(void* buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  if (type != large) return REAL(MPI_Recv)(buf, n, type, from, tag, comm, status);
  return set_bytes(REAL(MPI_Recv)(buf, 0, type, from, tag, comm, status), status, 8L * megabyte * n);
}
REPLACES_MPI int PMPI_Allgather(const void* from, int sent, MPI_Datatype type, void* to, int received, MPI_Datatype as,
                                MPI_Comm comm) {
  return REAL(MPI_Allgather)(from, type == large ? 0 : sent, type, to, as == large ? 0 : received, as, comm);
}
#ifdef EFFORT_MPI_HAS_LARGE_COUNTS
static const MPI_Count many = 6000000000;
REPLACES_MPI int PMPI_Send_c(const void* buf, MPI_Count n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return REAL(MPI_Send_c)(buf, n == many ? 0 : n, type, to, tag, comm);
}
REPLACES_MPI int PMPI_Recv_c(void* buf, MPI_Count n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                             MPI_Status* status) {
  const int result = REAL(MPI_Recv_c)(buf, n == many ? 0 : n, type, from, tag, comm, status);
  return n == many ? set_bytes(result, status, 4 * many) : result;
}
#endif

static void mark(int tag) {
  expect("send", "self", rank, tag, 0, 0, 0);
  expect("receive", "self", rank, tag, 0, 0, 0);
  MPI_Sendrecv(NULL, 0, MPI_INT, 0, tag, NULL, 0, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
static void barrier(void) {
  expect("collective", "world", -1, 0, 0, 0, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Around the ring, from even to odd ranks first. */
static void messages(void) {
  MPI_Status status;
  MPI_Count elements = 0;
  for (int turn = 0; turn < 2; ++turn) {
    if (rank % 2 == turn) {
      expect("send", "world", next, 1, bytes, 0, 0);
      MPI_Send(NULL, count, large, next, 1, MPI_COMM_WORLD);
    } else {
      MPI_Recv(NULL, count, large, before, 1, MPI_COMM_WORLD, &status);
      expect("receive", "world", before, 1, bytes, 0, 0);
      MPI_Get_elements_x(&status, MPI_BYTE, &elements);
      CHECK(elements == bytes);
    }
  }
  MPI_Request request;
  expect("send_start", "world", next, 2, bytes, 0, 1);
  MPI_Isend(NULL, count, large, next, 2, MPI_COMM_WORLD, &request);
  MPI_Recv(NULL, count, large, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("receive", "world", before, 2, bytes, 0, 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("send_done", "", -1, 0, 0, 0, 1);
  expect("collective", "world", -1, 0, (size - 1) * bytes, (size - 1) * bytes, 0);
  MPI_Allgather(NULL, count, large, NULL, count, large, MPI_COMM_WORLD);
#ifdef EFFORT_MPI_HAS_LARGE_COUNTS
  for (int turn = 0; turn < 2; ++turn) {
    if (rank % 2 == turn) {
      expect("send", "world", next, 3, 4 * many, 0, 0);
      MPI_Send_c(NULL, many, MPI_FLOAT, next, 3, MPI_COMM_WORLD);
    } else {
      MPI_Recv_c(NULL, many, MPI_FLOAT, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect("receive", "world", before, 3, 4 * many, 0, 0);
    }
  }
#endif
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  MPI_Type_contiguous(megabyte, MPI_DOUBLE, &large);
  MPI_Type_commit(&large);
  for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD);
  expect_begin(rank, 0);
  mark(first_mark);
  for (int i = 0; i < 12; ++i) {
    messages();
    barrier();
  }
  mark(last_mark);
  expect_end();
  for (int i = 0; i < 40; ++i) MPI_Barrier(MPI_COMM_WORLD); /* ends the windows */
  MPI_Type_free(&large);
  MPI_Finalize();
  return wrong != 0;
}
