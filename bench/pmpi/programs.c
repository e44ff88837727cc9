/* bench_pmpi_programs NAME ITERATIONS
 *
 * The programs by which Mohror & Karavanic 2009 judge reductions of traces (section 4.1), with MPI: each iteration has
 * about a millisecond of work, which varies by 1 %, and a pattern of communication in which some ranks wait.  An
 * iteration is a step (MPI_Pcontrol).  For an even number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 1000, usual_us = 1000, late_us = 1500 };
static int rank, size;
static char data[bytes], *all;
static unsigned long long state;

static void work(double us) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  const double noise = 0.02 * (double)(state >> 11) / 9007199254740992.0;
  const double end = MPI_Wtime() + 1e-6 * us * (0.99 + noise);
  while (MPI_Wtime() < end) {
  }
}

static void send(int to) { MPI_Send(data, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD); }
static void send_when_received(int to) { MPI_Ssend(data, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD); }
static void receive(int from) { MPI_Recv(data, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static int sends(void) { return rank % 2 == 0; }

static void late_sender(int i) {
  (void)i;
  work(sends() ? late_us : usual_us);
  sends() ? send(rank + 1) : receive(rank - 1);
  if (!sends()) work(late_us - usual_us);
}

static void late_receiver(int i) {
  (void)i;
  work(sends() ? usual_us : late_us);
  sends() ? send_when_received(rank + 1) : receive(rank - 1);
  if (sends()) work(late_us - usual_us);
}

static void early_gather(int i) {
  (void)i;
  work(rank == 0 ? usual_us : late_us);
  MPI_Gather(data, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 0) work(late_us - usual_us);
}

static void late_broadcast(int i) {
  (void)i;
  work(rank == 0 ? late_us : usual_us);
  MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank != 0) work(late_us - usual_us);
}

static void imbalance_at_barrier(int i) {
  (void)i;
  work(usual_us + 100 * rank);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void n_to_1(int i) {
  (void)i;
  work(usual_us);
  if (rank != 0) send(0);
  for (int r = 1; rank == 0 && r < size; ++r) receive(r);
}

static void one_to_n(int i) {
  (void)i;
  work(usual_us);
  if (rank != 0) receive(0);
  for (int r = 1; rank == 0 && r < size; ++r) send(r);
}

static void one_to_1(int i) {
  (void)i;
  work(usual_us);
  sends() ? send(rank + 1) : receive(rank - 1);
}

static void one_to_1_synchronous(int i) {
  (void)i;
  work(usual_us);
  sends() ? send_when_received(rank + 1) : receive(rank - 1);
}

static void n_to_n(int i) {
  (void)i;
  work(usual_us);
  MPI_Allreduce(MPI_IN_PLACE, &state, 1, MPI_UNSIGNED_LONG_LONG, MPI_BOR, MPI_COMM_WORLD);
  state += (unsigned long long)rank;
}

/* The upper half of the ranks gets more work from one iteration to the next, and is relieved of it every 20. */
static void moving_load(int i) {
  work(usual_us + (rank >= size / 2 ? 40 * (i % 20) : 0));
  MPI_Alltoall(data, bytes / size, MPI_BYTE, all, bytes / size, MPI_BYTE, MPI_COMM_WORLD);
}

static void wavefront(int i) {
  (void)i;
  for (int front = 0; front < 4; ++front) {
    if (rank > 0) receive(rank - 1);
    work(usual_us / 5);
    if (rank + 1 < size) send(rank + 1);
  }
}

static const struct {
  const char *name;
  void (*iterate)(int i);
} programs[] = {{"late_sender", late_sender},
                {"late_receiver", late_receiver},
                {"early_gather", early_gather},
                {"late_broadcast", late_broadcast},
                {"imbalance_at_barrier", imbalance_at_barrier},
                {"Nto1", n_to_1},
                {"1toN", one_to_n},
                {"1to1r", one_to_1},
                {"1to1s", one_to_1_synchronous},
                {"NtoN", n_to_n},
                {"moving_load", moving_load},
                {"wavefront", wavefront}};
enum { n_programs = sizeof programs / sizeof *programs };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  all = malloc((size_t)size * bytes);
  state = (unsigned long long)rank;
  int found = 0;
  for (int p = 0; argc == 3 && size % 2 == 0 && p < n_programs; ++p) {
    if (strcmp(argv[1], programs[p].name) != 0) continue;
    found = 1;
    for (int i = 0; i < atoi(argv[2]); ++i) {
      programs[p].iterate(i);
      MPI_Pcontrol(0);
    }
  }
  if (!found && rank == 0) {
    fprintf(stderr, "bench_pmpi_programs NAME ITERATIONS, on an even number of ranks; NAME is one of:");
    for (int p = 0; p < n_programs; ++p) fprintf(stderr, " %s", programs[p].name);
    fprintf(stderr, "\n");
  }
  free(all);
  MPI_Finalize();
  return found ? 0 : 2;
}
