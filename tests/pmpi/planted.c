/* A program with planted waits: late senders, receivers and partners, of 20 ms each.  Every rank writes down when it
 * began and ended each of its calls, planted-RANK.txt with lines "ROUND PHASE BEGIN END" (ns of the machine's monotonic
 * clock), from which planted.py computes how long each call waited.  At least 3 ranks on one machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int rank, size, iteration;
static FILE* list;

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Computes. */
static void work(double milliseconds) {
  volatile double x = 0;
  const long long end = now() + (long long)(1e6 * milliseconds);
  while (now() < end)
    for (int i = 0; i < 1000; ++i) x += 1.0 / (1 + i);
}

static long long begun;
static void begin(void) { begun = now(); }
static void end(const char* phase) {
  const long long ended = now();
  fprintf(list, "%d %s %lld %lld\n", iteration, phase, begun, ended);
}

static void messages(double late) {
  char data[100] = {0}, other[100];
  if (rank == 0) {
    begin();
    MPI_Recv(data, 100, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end("late_sender");
  } else if (rank == 1) {
    work(late);
    begin();
    MPI_Send(data, 100, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    end("late_sender");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    begin();
    MPI_Ssend(data, 100, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    end("late_receiver");
  } else if (rank == 1) {
    work(late);
    begin();
    MPI_Recv(data, 100, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end("late_receiver");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Request requests[2];
    MPI_Irecv(data, 100, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(other, 100, MPI_CHAR, 2, 3, MPI_COMM_WORLD, &requests[1]);
    begin();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    end("waitall");
  } else if (rank <= 2) {
    if (rank == 2) work(late);
    begin();
    MPI_Send(data, 100, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    end("waitall");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* In every second round, inside a communication region of the host, if effort is loaded. */
static void probe(double late) {
  char data[100] = {0};
  int (*const region)(const char*, int, int*) = (int (*)(const char*, int, int*))dlsym(RTLD_DEFAULT, "effort_region");
  int (*const enter)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "effort_begin");
  int (*const leave)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "effort_end");
  int id = 0;
  const int inside = iteration % 2 == 1 && region && enter && leave && region("exchange", 1, &id) == 0;
  if (rank == 0) {
    MPI_Message message;
    if (inside) enter(id);
    begin();
    MPI_Mprobe(1, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    end("probe");
    MPI_Mrecv(data, 100, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    if (inside) leave(id);
  } else if (rank == 1) {
    work(late);
    begin();
    MPI_Send(data, 100, MPI_CHAR, 0, 4, MPI_COMM_WORLD);
    end("probe");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void collectives(double late) {
  double x = rank, y = 0;
  if (rank == 2) work(late);
  begin();
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  end("nxn");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) work(late);
  begin();
  MPI_Bcast(&x, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  end("late_broadcast");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) work(late);
  begin();
  MPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  end("early_reduce");
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 8;
  char name[64];
  snprintf(name, sizeof name, "planted-%d.txt", rank);
  list = fopen(name, "w");
  if (!list || size < 3) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD); /* the trace begins with the second step */
  for (iteration = 0; iteration < rounds; ++iteration) {
    messages(20);
    probe(20);
    collectives(20);
  }
  fclose(list);
  MPI_Finalize();
  return 0;
}
