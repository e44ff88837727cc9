/* late_senders [nodes]: planted late senders.  Compares the delays of its hints with the waits by its own clock; what a
 * chain of late messages costs must be charged to the rank where it began.  With simulated nodes, it only checks who is
 * to blame, because the clocks of busy threads are compared roughly.  Needs COMM_WAITS=1, TRACE=on, WINDOW=4,
 * HINT_LAG=0, and 4 ranks on one machine. */
#include <effort/effort_mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { n_ranks = 4, window = 4, n_kinds = 6, n_steps = 3 * window * n_kinds, most = 64, most_of_call = 3 };
enum kind { one_call, last_of_several, chain, nobody, any_message, probed };

/* A call that completes receives, and what it received: the senders, and which of their sends. */
struct call {
  double begin, end;
  int n, from[most_of_call], send[most_of_call];
};

static int rank, hints, wrong, over_nodes;
static struct log {
  int n_calls, n_sends;
  struct call calls[most];
  double sends[most];
} mine; /* of the window under way */
static double since;
static effort_region_id slow;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec - since;
}

static void work(double milliseconds) {
  volatile double x = 0;
  const double end = now() + 1e-3 * milliseconds;
  while (now() < end)
    for (int i = 0; i < 100; ++i) x += 1.0 / (1 + i);
}

static int* next_send(void) {
  static int numbers[most];
  mine.sends[mine.n_sends] = now();
  numbers[mine.n_sends] = mine.n_sends;
  return &numbers[mine.n_sends++];
}

static struct call* begin_call(void) {
  struct call* c = &mine.calls[mine.n_calls++];
  c->n = 0;
  c->begin = now();
  return c;
}

static void end_call(struct call* c, int from, int send) {
  c->end = now();
  c->from[c->n] = from;
  c->send[c->n++] = send;
}

static void receive(int from, int tag) {
  int number;
  MPI_Status s;
  struct call* c = begin_call();
  MPI_Recv(&number, 1, MPI_INT, from, tag, MPI_COMM_WORLD, &s);
  end_call(c, s.MPI_SOURCE, number);
}

/* Each rank probes and receives in a way of its own. */
static void probe_and_receive(int from, int tag) {
  int number;
  MPI_Status s;
  MPI_Message message;
  MPI_Request request = MPI_REQUEST_NULL;
  struct call* c = begin_call();
  if (rank % 2 == 0)
    MPI_Probe(from, tag, MPI_COMM_WORLD, &s);
  else
    MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, &s);
  switch (rank) {
    case 0: MPI_Recv(&number, 1, MPI_INT, from, tag, MPI_COMM_WORLD, &s); break;
    case 1: MPI_Mrecv(&number, 1, MPI_INT, &message, &s); break;
    case 2: MPI_Irecv(&number, 1, MPI_INT, from, tag, MPI_COMM_WORLD, &request); break;
    default: MPI_Imrecv(&number, 1, MPI_INT, &message, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  end_call(c, from, number);
}

/* Rank `late` works 20 ms longer than the others in each step. */
static void step_of(enum kind kind, int late) {
  int numbers[most_of_call];
  MPI_Request requests[most_of_call];
  effort_begin(slow);
  work(kind != nobody && rank == late ? 22 : 2);
  effort_end(slow);
  switch (kind) {
    case nobody: /* everything has arrived when it is received */
      for (int r = 0; r < n_ranks; ++r)
        if (r != rank) MPI_Send(next_send(), 1, MPI_INT, r, kind, MPI_COMM_WORLD);
      PMPI_Barrier(MPI_COMM_WORLD);
      work(2);
      for (int r = 0; r < n_ranks; ++r)
        if (r != rank) receive(r, kind);
      break;
    case one_call:
    case any_message:
    case probed:
      if (rank == late) {
        for (int r = 0; r < n_ranks; ++r)
          if (r != rank) MPI_Send(next_send(), 1, MPI_INT, r, kind, MPI_COMM_WORLD);
      } else if (kind == probed) {
        probe_and_receive(late, kind);
      } else {
        receive(kind == any_message ? MPI_ANY_SOURCE : late, kind == any_message ? MPI_ANY_TAG : (int)kind);
      }
      break;
    case last_of_several: {
      struct call* c;
      int n = 0, from[most_of_call];
      for (int r = 0; r < n_ranks; ++r)
        if (r != rank) {
          from[n] = r;
          MPI_Irecv(&numbers[n], 1, MPI_INT, r, kind, MPI_COMM_WORLD, &requests[n]);
          ++n;
        }
      for (int r = 0; r < n_ranks; ++r)
        if (r != rank) MPI_Send(next_send(), 1, MPI_INT, r, kind, MPI_COMM_WORLD);
      c = begin_call();
      MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
      for (int i = 0; i < n; ++i) end_call(c, from[i], numbers[i]);
      break;
    }
    case chain: { /* from the late rank to the next, and so on */
      const int place = (rank - late + n_ranks) % n_ranks;
      if (place > 0) receive((rank + n_ranks - 1) % n_ranks, kind);
      if (place < n_ranks - 1) MPI_Send(next_send(), 1, MPI_INT, (rank + 1) % n_ranks, kind, MPI_COMM_WORLD);
      break;
    }
  }
}

static double waited(const struct call* c, const struct log* all) {
  double latest = 0;
  for (int i = 0; i < c->n; ++i) latest = fmax(latest, all[c->from[i]].sends[c->send[i]]);
  return fmax(0, fmin(latest, c->end) - c->begin);
}

static int check_hint(const effort_hint* h, void* user) {
  static struct log all[n_ranks];
  const enum kind kind = (enum kind)(hints % n_kinds);
  const int late = hints % n_ranks;
  double want = 0, got = 0;
  (void)user;
  ++hints;
  if (!h->delay || !h->delay_region) {
    fprintf(stderr, "hint %d has no delays\n", hints);
    wrong = 1;
    return 0;
  }
  PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  for (int r = 0; r < n_ranks; ++r) {
    for (int i = 0; i < all[r].n_calls; ++i) want += waited(&all[r].calls[i], all) / window;
    got += h->delay[r];
  }
  /* 1 % for what happens between the two readings of the clock, and one interruption of 1 ms there. */
  const double tolerance = 0.01 * want + 1e-3 * n_ranks / window;
  /* In the first window, the library determines the call paths of new calls. */
  if (hints > n_kinds && !over_nodes && fabs(got - want) > tolerance) {
    if (rank == 0) fprintf(stderr, "hint %d: %.6f s of waiting, %.6f by the program's clock\n", hints, got, want);
    wrong = 1;
  }
  /* Other ranks come late, too, if the machine interrupts them. */
  if (kind != nobody && (h->delay[late] < 0.5 * got || got < 0.02)) {
    if (rank == 0) fprintf(stderr, "hint %d: rank %d caused %.6f of %.6f s\n", hints, late, h->delay[late], got);
    wrong = 1;
  }
  if (kind == nobody && got > 0.002) {
    if (rank == 0) fprintf(stderr, "hint %d: %.6f s of waiting although no rank is late\n", hints, got);
    wrong = 1;
  }
  const int region = h->delay_region[late];
  if (kind != nobody && (region < 0 || strcmp(h->region_name[region], "slow") != 0)) {
    if (rank == 0) fprintf(stderr, "hint %d: rank %d is late by region %d\n", hints, late, region);
    wrong = 1;
  }
  if (h->transfer_efficiency < 0 || h->transfer_efficiency > 1) {
    fprintf(stderr, "transfer efficiency %f\n", h->transfer_efficiency);
    wrong = 1;
  }
  if (rank == 0)
    printf("hint %d: rank %d caused %.6f of %.6f s a step, %.6f by the program's clock; transfer efficiency %.3f\n",
           hints, late, h->delay[late], got, want, h->transfer_efficiency);
  memset(&mine, 0, sizeof mine);
  return 0;
}

int main(int argc, char** argv) {
  int size, bad;
  over_nodes = argc > 1 && strcmp(argv[1], "nodes") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != n_ranks) MPI_Abort(MPI_COMM_WORLD, 1);
  since = now();
  PMPI_Bcast(&since, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  bad = effort_init_mpi(MPI_COMM_WORLD, NULL) != EFFORT_OK || effort_on_rebalance(check_hint, NULL) != EFFORT_OK ||
        effort_region("slow", EFFORT_COMPUTE, &slow) != EFFORT_OK;
  for (int step = 0; step < n_steps && !bad; ++step) {
    step_of((enum kind)(step / window % n_kinds), step / window % n_ranks);
    PMPI_Barrier(MPI_COMM_WORLD);
    bad = effort_progress_step() != EFFORT_OK;
  }
  if (hints != n_steps / window) {
    fprintf(stderr, "%d hints, not %d\n", hints, n_steps / window);
    wrong = 1;
  }
  bad |= effort_finalize() != EFFORT_OK;
  MPI_Finalize();
  return bad || wrong;
}
