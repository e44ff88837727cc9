/* Messages of all kinds on 4 ranks. Each rank writes to matrix-RANK.txt what the communication matrix should say: lines
 * "m FROM TO BYTES", one for each message that this rank counts, and "w FROM NANOSECONDS", the time until a message
 * from FROM completed a call of MPI_Waitany, by the program's own clock. With the argument "threads", two threads send
 * at the same time; with "serialized", they take turns to call MPI. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { rounds = 10, late_ms = 15, most_bytes = 100000, most_lines = 100000, messages_of_thread = 500 };
static int rank, size, n_lines;
static char out[most_bytes], in[4][most_bytes];
static struct line { int from, to, bytes; } lines[most_lines];
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER, calling = PTHREAD_MUTEX_INITIALIZER;
static int level = MPI_THREAD_SINGLE;

static void add(int from, int to, int bytes) {
  const struct line l = {from, to, bytes};
  pthread_mutex_lock(&adding);
  if (n_lines < most_lines) lines[n_lines++] = l;
  pthread_mutex_unlock(&adding);
}
static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}
/* A size for the i-th message: 0, 1, 2, 4, 7, ... bytes. */
static int size_of(int i) {
  int bytes = i % 17;
  for (int k = 0; k < i % 13; ++k) bytes += bytes / 2 + (k & 1);
  return bytes;
}
static int next(int by) { return (rank + by) % size; }

static void blocking(void) {
  for (int i = 0; i < 40; ++i) {
    const int bytes = size_of(i), to = next(1 + i % 3), from = next(size - 1 - i % 3);
    MPI_Request r;
    MPI_Irecv(in[0], most_bytes, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : from, i, MPI_COMM_WORLD, &r);
    i % 3 ? MPI_Send(out, bytes, MPI_BYTE, to, i, MPI_COMM_WORLD)
          : MPI_Ssend(out, bytes, MPI_BYTE, to, i, MPI_COMM_WORLD);
    add(rank, to, bytes);
    MPI_Wait(&r, i % 5 ? MPI_STATUS_IGNORE : &(MPI_Status){0});
    MPI_Sendrecv(out, bytes + 1, MPI_BYTE, to, i, in[0], most_bytes, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : from, i,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    add(rank, to, bytes + 1);
  }
  /* To itself: does not count. */
  MPI_Sendrecv(out, 5, MPI_BYTE, rank, 0, in[0], 5, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 receives from all others; rank 2 is late. Sources are given in every other round. */
static void any_of_several(FILE* file) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int d = 1; d < size; d *= 2) add(rank, next(d), 0);
    if (rank == 0) {
      MPI_Request r[3];
      for (int i = 0; i < 3; ++i)
        MPI_Irecv(in[i], 8, MPI_BYTE, round % 2 ? MPI_ANY_SOURCE : i + 1, 7, MPI_COMM_WORLD, &r[i]);
      for (int i = 0; i < 3; ++i) {
        int which;
        MPI_Status status;
        const int64_t begun = now();
        MPI_Waitany(3, r, &which, &status);
        fprintf(file, "w %d %lld\n", status.MPI_SOURCE, (long long)(now() - begun));
      }
    } else {
      const int64_t until = now() + late_ms * INT64_C(1000000);
      while (rank == 2 && now() < until) {
      }
      MPI_Send(out, 8, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
      add(rank, 0, 8);
    }
  }
}

static void polling(void) {
  for (int i = 0; i < 20; ++i) {
    MPI_Request r[4];
    int done = 0, which[4];
    for (int k = 0; k < 2; ++k) {
      MPI_Irecv(in[k], most_bytes, MPI_BYTE, next(size - 1 - k), 100 + k, MPI_COMM_WORLD, &r[k]);
      MPI_Isend(out, size_of(i + k), MPI_BYTE, next(1 + k), 100 + k, MPI_COMM_WORLD, &r[2 + k]);
      add(rank, next(1 + k), size_of(i + k));
    }
    while (done < 4) {
      int n = 0, flag = 0;
      if (i % 3 == 0)
        MPI_Testsome(4, r, &n, which, MPI_STATUSES_IGNORE);
      else if (i % 3 == 1)
        MPI_Waitsome(4, r, &n, which, MPI_STATUSES_IGNORE);
      else
        MPI_Testany(4, r, which, &flag, MPI_STATUS_IGNORE);
      done += flag ? 1 : n;
    }
  }
}

static void odd_requests(void) {
  MPI_Request r[2];
  MPI_Send_init(out, 300, MPI_BYTE, next(1), 3, MPI_COMM_WORLD, &r[0]);
  MPI_Recv_init(in[0], 300, MPI_BYTE, next(size - 1), 3, MPI_COMM_WORLD, &r[1]);
  for (int i = 0; i < rounds; ++i) {
    MPI_Startall(2, r);
    add(rank, next(1), 300);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
  /* A cancelled receive does not count. */
  MPI_Irecv(in[0], 8, MPI_BYTE, next(1), 999, MPI_COMM_WORLD, &r[0]);
  MPI_Cancel(&r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
}

/* On the communicator of the ranks of the same parity, in which the order is reversed. */
static void collectives(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  const int other = (rank + 2) % size, first = rank < other; /* it is the last one in `half` */
  int counts[2], places[2] = {0, 1000};
  for (int i = 0; i < rounds; ++i) {
    const int doubles = 1 + i / 4;
    MPI_Allreduce(out, in[0], doubles, MPI_DOUBLE, MPI_SUM, half);
    add(rank, other, 8 * doubles);
    MPI_Bcast(in[0], 8 + i, MPI_BYTE, 0, half); /* rank 0 of `half` is the higher one */
    if (first) add(other, rank, 8 + i);
    counts[0] = counts[1] = 10 * (i % 3);
    MPI_Alltoallv(out, counts, places, MPI_BYTE, in[0], counts, places, MPI_BYTE, half);
    add(other, rank, 10 * (i % 3));
    MPI_Request r;
    MPI_Iallreduce(out, in[0], 2, MPI_DOUBLE, MPI_SUM, half, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    add(rank, other, 16);
  }
  MPI_Comm_free(&half);
  MPI_Allreduce(out, in[0], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int d = 1; d < size; d *= 2) add(rank, next(d), 8);
}

static void enter(void) {
  if (level == MPI_THREAD_SERIALIZED) pthread_mutex_lock(&calling);
}
static void leave(void) {
  if (level == MPI_THREAD_SERIALIZED) pthread_mutex_unlock(&calling);
}

static void* exchange(void* argument) {
  const int thread = *(int*)argument;
  for (int i = 0; i < messages_of_thread; ++i) {
    MPI_Request r[2];
    int done = 0;
    enter();
    MPI_Irecv(in[2 + thread], 16, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : next(size - 1), 50 + thread, MPI_COMM_WORLD,
              &r[0]);
    MPI_Isend(out, 8 + thread, MPI_BYTE, next(1), 50 + thread, MPI_COMM_WORLD, &r[1]);
    leave();
    add(rank, next(1), 8 + thread);
    if (level == MPI_THREAD_MULTIPLE) MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    while (level == MPI_THREAD_SERIALIZED && !done) {
      enter();
      MPI_Testall(2, r, &done, MPI_STATUSES_IGNORE);
      leave();
      sched_yield();
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1;
  if (threads) level = strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
  int provided;
  MPI_Init_thread(&argc, &argv, level, &provided);
  if (threads && provided < level) return 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char name[32];
  snprintf(name, sizeof name, "matrix-%d.txt", rank);
  FILE* const file = fopen(name, "w");
  if (!file || size != 4) return 2;
  blocking();
  any_of_several(file);
  polling();
  odd_requests();
  collectives();
  if (threads) {
    pthread_t all[2];
    int numbers[2] = {0, 1};
    for (int i = 0; i < 2; ++i)
      if (pthread_create(&all[i], NULL, exchange, &numbers[i])) return 2;
    for (int i = 0; i < 2; ++i) pthread_join(all[i], NULL);
  }
  MPI_Finalize();
  for (int i = 0; i < n_lines; ++i) fprintf(file, "m %d %d %d\n", lines[i].from, lines[i].to, lines[i].bytes);
  return fclose(file) != 0;
}
