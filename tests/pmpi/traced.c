/* Messages of all kinds, all of which the trace must hold.  traced [threads|multiple]: several threads; or one thread
 * with MPI_THREAD_MULTIPLE; without an argument, one thread without it.  Ends with 0 if MPI behaves as it does without
 * the library. */
#include "traced.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int rank, size, next, before, wrong;
int last_request, multiple;

void let_others_run(void) {
  const struct timespec some = {0, 100000};
  nanosleep(&some, NULL);
}

void mark(int tag) {
  expect("send", "self", rank, tag, 0, 0, 0);
  expect("receive", "self", rank, tag, 0, 0, 0);
  MPI_Sendrecv(NULL, 0, MPI_INT, 0, tag, NULL, 0, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

void barrier(void) {
  expect("collective", "world", -1, 0, 0, 0, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

int starts(const char* kind, const char* comm, int peer, int tag, long bytes) {
  expect(kind, comm, peer, tag, bytes, 0, ++last_request);
  return last_request;
}
void sent(int request) { expect("send_done", "", -1, 0, 0, 0, request); }
void lost(int request) { expect("request_cancelled", "", -1, 0, 0, 0, request); }
void got(int request, const char* comm, int peer, int tag, long bytes) {
  expect("receive_done", comm, peer, tag, bytes, 0, request);
}

/* The main thread starts, the other one completes. */
static MPI_Request handed[4];
static int numbers[4];
static double in[2], out[2];

static void* complete(void* unused) {
  expect_begin(rank, 1);
  mark(first_mark);
  const int alike = handed[1] == handed[3]; /* then the newest is taken for the one that is complete */
  MPI_Wait(&handed[0], MPI_STATUS_IGNORE);
  got(numbers[0], "world", before, 1, 8);
  MPI_Wait(&handed[1], MPI_STATUS_IGNORE);
  sent(numbers[alike ? 3 : 1]);
  MPI_Waitall(2, handed + 2, MPI_STATUSES_IGNORE);
  got(numbers[2], "world", before, 2, 8);
  sent(numbers[alike ? 1 : 3]);
  mark(last_mark);
  expect_end();
  return unused;
}

static void threads(void) {
  for (int i = 0; i < 4; ++i) {
    const int receives = i % 2 == 0, tag = 1 + i / 2;
    numbers[i] =
        starts(receives ? "receive_start" : "send_start", "world", receives ? before : next, tag, receives ? 0 : 8);
    if (receives)
      MPI_Irecv(&in[i / 2], 1, MPI_DOUBLE, before, tag, MPI_COMM_WORLD, &handed[i]);
    else
      MPI_Isend(&out[i / 2], 1, MPI_DOUBLE, next, tag, MPI_COMM_WORLD, &handed[i]);
  }
  pthread_t other;
  pthread_create(&other, NULL, complete, NULL);
  pthread_join(other, NULL);
}

/* Each thread of a rank talks to the same one of the next rank, all at the same time. */
enum { talkers = 3, rounds = 300 };
static MPI_Comm talk_comms[talkers];
static void* talk(void* number) {
  const int me = *(const int*)number;
  char comm[] = "talk0";
  comm[4] = (char)('0' + me);
  expect_begin(rank, 2 + me);
  mark(first_mark);
  for (int i = 0; i < rounds; ++i) {
    int mine = i, theirs = -1;
    MPI_Request r[2];
    const int tag = 10 * (me + 1) + i % 3;
    const long base = 1000000L * (me + 1) + 2L * i;
    expect("receive_start", comm, i % 2 ? -1 : before, i % 2 ? -1 : tag, 0, 0, (int)base);
    MPI_Irecv(&theirs, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : before, i % 2 ? MPI_ANY_TAG : tag, talk_comms[me], &r[0]);
    expect("send_start", comm, next, tag, 4, 0, (int)base + 1);
    MPI_Isend(&mine, 1, MPI_INT, next, tag, talk_comms[me], &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    expect("receive_done", comm, before, tag, 4, 0, (int)base);
    expect("send_done", "", -1, 0, 0, 0, (int)base + 1);
    if (theirs != i) wrong = 1;
  }
  mark(last_mark);
  expect_end();
  return NULL;
}
static void many_threads(void) {
  pthread_t t[talkers];
  int number[talkers];
  for (int i = 0; i < talkers; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &talk_comms[i]);
  for (int i = 0; i < talkers; ++i) {
    number[i] = i;
    pthread_create(&t[i], NULL, talk, &number[i]);
  }
  for (int i = 0; i < talkers; ++i) pthread_join(t[i], NULL);
  for (int i = 0; i < talkers; ++i) MPI_Comm_free(&talk_comms[i]);
}

int main(int argc, char** argv) {
  const int several = argc > 1 && strcmp(argv[1], "threads") == 0;
  multiple = several || (argc > 1 && strcmp(argv[1], "multiple") == 0);
  int level;
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD); /* the first step ends, and recording begins */
  expect_begin(rank, 0);
  mark(first_mark);
  if (several) {
    threads();
    many_threads();
  } else {
    messages();
    completions();
    collectives();
    communicators();
    one_sided();
    since_mpi4();
  }
  mark(last_mark);
  expect_end();
  for (int i = 0; i < 40; ++i) MPI_Barrier(MPI_COMM_WORLD); /* ends the windows */
  MPI_Finalize();
  if (wrong) fprintf(stderr, "rank %d: MPI did not do what it does without the library (%d)\n", rank, wrong);
  return wrong != 0;
}
