/* One-sided communication. */
#include "traced.h"

#include <stddef.h>

/* `to` bytes to the target, `from` bytes from it. */
static void reaches(const char* comm, int target, long to, long from) {
  expect("one_sided", comm, target, 0, to, from, 0);
}
static void fence(MPI_Win win, const char* comm) {
  expect("collective", comm, -1, 0, 0, 0, 0);
  MPI_Win_fence(0, win);
}

/* The next call synchronises with several ranks. */
static void with_several(const char* comm) { reaches(comm, -1, 0, 0); }

static double memory[16], out[4] = {1, 2, 3, 4}, in[4];

static void with_fences(void) {
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  fence(win, "world");
  reaches("world", next, 24, 0);
  MPI_Put(out, 3, MPI_DOUBLE, next, 0, 3, MPI_DOUBLE, win);
  fence(win, "world");
  CHECK(memory[2] == 3);
  reaches("world", before, 0, 16);
  MPI_Get(in, 2, MPI_DOUBLE, before, 0, 2, MPI_DOUBLE, win);
  reaches("world", next, 8, 0);
  MPI_Accumulate(out, 1, MPI_DOUBLE, next, 8, 1, MPI_DOUBLE, MPI_SUM, win);
  MPI_Put(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win); /* no record */
  fence(win, "world");
  CHECK(in[1] == 2 && memory[8] == 1);
  MPI_Win_free(&win);
}

/* Ranks of the window are not those of MPI_COMM_WORLD; its communicator is gone before it. */
static void with_locks(void) {
  MPI_Comm reversed;
  MPI_Win win;
  MPI_Request r[2];
  double* base = NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Win_allocate(16 * sizeof(double), 8, MPI_INFO_NULL, reversed, &base, &win);
  MPI_Comm_free(&reversed);
  const int to = size - 1 - next, from = size - 1 - before; /* as ranks of the window */
  reaches("window", next, 0, 0);
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
  reaches("window", next, 16, 0);
  MPI_Rput(out, 2, MPI_DOUBLE, to, 0, 2, MPI_DOUBLE, win, &r[0]);
  reaches("window", next, 8, 0);
  MPI_Raccumulate(out, 1, MPI_DOUBLE, to, 4, 1, MPI_DOUBLE, MPI_SUM, win, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  reaches("window", next, 0, 0);
  MPI_Win_flush(to, win);
  reaches("window", next, 0, 8);
  MPI_Rget(in, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, win, &r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  CHECK(in[0] == 1);
  reaches("window", next, 0, 0);
  MPI_Win_unlock(to, win);
  with_several("window");
  MPI_Win_lock_all(0, win);
  reaches("window", before, 16, 16);
  MPI_Get_accumulate(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, from, 8, 2, MPI_DOUBLE, MPI_REPLACE, win);
  reaches("window", before, 0, 16); /* it sends nothing */
  MPI_Get_accumulate(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, from, 8, 2, MPI_DOUBLE, MPI_NO_OP, win);
  long one = 1, old = 0, compare = 5;
  reaches("window", before, sizeof(long), sizeof(long));
  MPI_Fetch_and_op(&one, &old, MPI_LONG, from, 12, MPI_SUM, win);
  reaches("window", before, sizeof(long), sizeof(long));
  MPI_Compare_and_swap(&one, &compare, &old, MPI_LONG, from, 13, win);
  reaches("window", before, 0, 0);
  MPI_Win_flush_local(from, win);
  with_several("window");
  MPI_Win_flush_all(win);
  with_several("window");
  MPI_Win_flush_local_all(win);
  with_several("window");
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* Only those who access and those who are accessed synchronise. */
static void with_groups(void) {
  MPI_Win win;
  MPI_Group world, sources, targets;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &before, &sources);
  MPI_Group_incl(world, 1, &next, &targets);
  MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  with_several("world");
  MPI_Win_post(sources, 0, win);
  with_several("world");
  MPI_Win_start(targets, 0, win);
  reaches("world", next, 32, 0);
  MPI_Put(out, 4, MPI_DOUBLE, next, 0, 4, MPI_DOUBLE, win);
  with_several("world");
  MPI_Win_complete(win);
  with_several("world");
  MPI_Win_wait(win);
  CHECK(memory[3] == 4);
  MPI_Win_free(&win);
  MPI_Group_free(&sources);
  MPI_Group_free(&targets);
  MPI_Group_free(&world);
}

void one_sided(void) {
  with_fences();
  barrier();
  with_locks();
  barrier();
  with_groups();
  barrier();
}
