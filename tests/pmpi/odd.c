/* Unusual hosts.  odd CASE [FRAMES] */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { rounds = 200 };
static int rank, size, wrong;

static void sum_up(MPI_Comm comm) {
  int one = 1, all = 0, n;
  MPI_Comm_size(comm, &n);
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
  wrong |= all != n;
}

/* Each thread of a rank exchanges messages with the same thread of the next rank. */
static void* talk(void* number) {
  const int tag = *(int*)number;
  for (int i = 0; i < rounds; ++i) {
    int got = -1, sent = rank * 1000 + i;
    MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, tag, &got, 1, MPI_INT, (rank + size - 1) % size, tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != (rank + size - 1) % size * 1000 + i) wrong = 1;
  }
  return NULL;
}

static volatile int stay = 1;
static void* linger(void* unused) {
  while (stay) sched_yield();
  return unused;
}

static void threads(void) {
  pthread_t t[3];
  int tags[3] = {1, 2, 3};
  for (int i = 0; i < 3; ++i) pthread_create(&t[i], NULL, talk, &tags[i]);
  for (int i = 0; i < 3; ++i) pthread_join(t[i], NULL);
  for (int i = 0; i < rounds; ++i) sum_up(MPI_COMM_WORLD);
}

static void forks(void) {
  sum_up(MPI_COMM_WORLD);
  const pid_t child = fork();
  if (child == 0) exit(0); /* exit handlers of the child find only this thread in the process */
  int status = -1;
  waitpid(child, &status, 0);
  wrong |= status != 0;
  for (int i = 0; i < rounds; ++i) sum_up(MPI_COMM_WORLD);
}

/* Ten persistent messages to the next rank, and ten one-sided ones to the previous rank. */
static void unusual_messages(void) {
  double out = rank, in = -1, window = -1;
  MPI_Request requests[2];
  MPI_Send_init(&out, 1, MPI_DOUBLE, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_DOUBLE, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Win win;
  MPI_Win_create(&window, sizeof window, sizeof window, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int i = 0; i < 10; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    wrong |= in != (rank + size - 1) % size;
    MPI_Win_fence(0, win);
    MPI_Put(&out, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, 1, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    wrong |= window != (rank + 1) % size;
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Win_free(&win);
}

/* Ten of each: prefix sums, exchanges with neighbours on a ring, and non-blocking collectives. */
static void unusual_collectives(void) {
  MPI_Comm ring;
  const int whole_ring = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &whole_ring, 0, &ring);
  for (int i = 0; i < 10; ++i) {
    double one = 1, sum = 0, mine[2] = {rank, rank}, theirs[2] = {-1, -1}, all = 0, told = rank == 0 ? i : -1;
    const int counts[2] = {1, 1};
    const MPI_Aint places[2] = {0, sizeof(double)};
    const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_DOUBLE};
    MPI_Request requests[3];
    MPI_Scan(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    wrong |= sum != rank + 1;
    MPI_Exscan(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    wrong |= rank > 0 && sum != rank;
    MPI_Neighbor_alltoall(mine, 1, MPI_DOUBLE, theirs, 1, MPI_DOUBLE, ring);
    wrong |= theirs[0] != (rank + size - 1) % size || theirs[1] != (rank + 1) % size;
    theirs[0] = theirs[1] = -1;
    MPI_Iallreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&told, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Ineighbor_alltoallw(mine, counts, places, types, theirs, counts, places, types, ring, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    wrong |= all != size || told != i || theirs[0] != (rank + size - 1) % size || theirs[1] != (rank + 1) % size;
  }
  MPI_Comm_free(&ring);
}

/* Collectives of only some ranks, in different numbers. They must not be taken for steps. */
static void part_of_the_ranks(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  for (int i = 0; i < rounds * (1 + rank % 2); ++i) sum_up(half);
  MPI_Comm_free(&half);
}

/* One call site for two MPI functions, reached from two callers through `more` common frames. */
typedef int Reduction(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
static __attribute__((noinline)) void reduce(Reduction* reduction, int more) {
  if (more > 0) {
    reduce(reduction, more - 1);
  } else {
    const int one = 1;
    int all = 0;
    wrong |= reduction(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS;
    wrong |= reduction == MPI_Allreduce && all != size;
  }
  __asm__ volatile("" ::: "memory"); /* keeps the frame */
}
static __attribute__((noinline)) void near(Reduction* reduction, int more) {
  reduce(reduction, more);
  __asm__ volatile("/* near */" ::: "memory"); /* keeps the compiler from merging the two functions */
}
static __attribute__((noinline)) void far(Reduction* reduction, int more) {
  reduce(reduction, more);
  __asm__ volatile("/* far */" ::: "memory");
}

static void burn(double seconds) {
  struct timespec t;
  double start = 0, now = 0;
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (start == 0) start = now;
  } while (now < start + seconds);
}

/* The next call differs: every second far(MPI_Allreduce) is followed by another one. paths.py knows the burned
 * times. */
static void paths(int more) {
  for (int i = 0; i < rounds; ++i) {
    near(MPI_Allreduce, more);
    burn(0.5e-3);
    far(MPI_Allreduce, more);
    if (i % 2) far(MPI_Allreduce, more);
    far(MPI_Scan, more);
    burn(1e-3);
  }
}

static void end_mpi(void) { MPI_Finalize(); }

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int at_exit = strcmp(what, "at_exit") == 0; /* runs after all handlers registered from here on */
  if (at_exit) atexit(end_mpi);
  pthread_t early;
  const int threads_first = strcmp(what, "threads_first") == 0;
  if (threads_first) pthread_create(&early, NULL, linger, NULL);
  if (threads_first || strcmp(what, "threads") == 0) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (threads_first || strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "fork") == 0) forks();
  if (strcmp(what, "messages") == 0) unusual_messages();
  if (strcmp(what, "collectives") == 0) unusual_collectives();
  if (strcmp(what, "part") == 0) part_of_the_ranks();
  if (strcmp(what, "paths") == 0) paths(argc > 2 ? atoi(argv[2]) : 0);
  if (strcmp(what, "abort") == 0) {
    sum_up(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 7);
  }
  if (at_exit) {
    for (int i = 0; i < rounds; ++i) sum_up(MPI_COMM_WORLD);
    return wrong;
  }
  if (strcmp(what, "leave") == 0) {
    sum_up(MPI_COMM_WORLD);
    fflush(NULL);
    _exit(9);
  }
  if (threads_first) {
    stay = 0;
    pthread_join(early, NULL);
  }
  MPI_Finalize();
  return wrong;
}
