/* waits [nodes]: planted waits at collectives.  Compares the delays of its hints with those by its own clock; with
 * TRACE=on, in which case they are followed back, the sum of all.  With simulated nodes, the error of a wait is bounded
 * by what the library says of their clocks: rank 0 writes the largest error per wait, in ns, to waits.txt (waits.py).
 * Needs COMM_WAITS=1, WINDOW=4, HINT_LAG=0, and at least 4 ranks on one machine. */
#include <effort/effort_mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { n_steps = 24, window = 4, most_instances = 5000 };
enum type { to_all, from_root, to_root, scan };

struct instance {
  int sub; /* on the half of the ranks that this one belongs to */
  enum type type;
  int root;
};

static int rank, size, half_rank, half_size, n_instances, hints, inexact, wrong;
static struct instance instances[most_instances]; /* of the window under way; the same on all ranks */
static double arrived[most_instances];            /* this rank's, seconds */
static MPI_Comm half;
static int over_nodes, followed;
static double since, largest_error;

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

static void arrive(int sub, enum type type, int root) {
  const struct instance i = {sub, type, root};
  instances[n_instances] = i;
  arrived[n_instances++] = now();
}

/* The ranks in the half of rank r, and its place there. */
static int place_of(int r) { return r / 2; }
static int same_half(int a, int b) { return a % 2 == b % 2; }

static void add_waits(const struct instance* in, const double* times, double* delay) {
  for (int r = 0; r < size; ++r) {
    const int place = in->sub ? place_of(r) : r;
    if ((in->type == from_root && place == in->root) || (in->type == to_root && place != in->root)) continue;
    int last = -1;
    for (int q = 0; q < size; ++q) {
      if (q == r || (in->sub && !same_half(q, r)) || (in->type == scan && q > r)) continue;
      if (in->type == from_root && (in->sub ? place_of(q) : q) != in->root) continue;
      if (last < 0 || times[q] > times[last]) last = q;
    }
    if (last >= 0 && times[last] > times[r]) delay[last] += times[last] - times[r];
  }
}

static int check_hint(const effort_hint* h, void* user) {
  (void)user;
  ++hints;
  if (!h->delay || !h->delay_region) {
    fprintf(stderr, "hint %d has no delays\n", hints);
    wrong = 1;
    return 0;
  }
  double *all = malloc(sizeof(double) * (size_t)n_instances * (size_t)size),
         *times = malloc(sizeof(double) * (size_t)size), *want = calloc((size_t)size, sizeof(double));
  PMPI_Allgather(arrived, n_instances, MPI_DOUBLE, all, n_instances, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int i = 0; i < n_instances; ++i) {
    for (int r = 0; r < size; ++r) times[r] = all[(size_t)r * (size_t)n_instances + (size_t)i];
    add_waits(&instances[i], times, want);
  }
  double total = 0;
  int worst = 0;
  for (int r = 0; r < size; ++r) {
    want[r] /= window;
    total += want[r];
    if (want[r] > want[worst]) worst = r;
  }
  /* In the first window, ranks come late because the library determines the call paths of new calls.
   * 1 % for what happens between the two readings of the clock, and one interruption of 1 ms there.  Longer ones spoil
   * a hint on a busy machine, but not most hints. */
  const double tolerance = 0.01 * total + 1e-3 * size / window;
  double delay = 0;
  int within = 1;
  for (int r = 0; r < size; ++r) delay += h->delay[r];
  for (int r = 0; r < (followed ? 1 : size); ++r) {
    const double error = followed ? fabs(delay - total) : fabs(h->delay[r] - want[r]);
    if (hints > 1) largest_error = fmax(largest_error, (error - tolerance) * window / (size * n_instances));
    if (error > tolerance && !over_nodes && hints > 1) {
      if (rank == 0)
        fprintf(stderr, "hint %d: delay of rank %d is %.6f, %.6f by the program's clock\n", hints, r, h->delay[r],
                want[r]);
      within = 0;
    }
  }
  inexact += !within;
  const int region = h->delay_region[worst];
  /* Between nodes, a wait that is shorter than the clocks' bound does not count. */
  const int shown = !over_nodes || h->delay[worst] > 0;
  if (!followed && shown && want[worst] > 0.5 * total && (region < 0 || strcmp(h->region_name[region], "slow") != 0)) {
    if (rank == 0) fprintf(stderr, "hint %d: rank %d is late by region %d\n", hints, worst, region);
    wrong = 1;
  }
  if (h->transfer_efficiency < 0 || h->transfer_efficiency > 1) {
    fprintf(stderr, "transfer efficiency %f\n", h->transfer_efficiency);
    wrong = 1;
  }
  if (rank == 0)
    printf("hint %d: rank %d makes the others wait %.6f s a step, %.6f by the program's clock\n", hints, worst,
           h->delay[worst], want[worst]);
  free(all);
  free(times);
  free(want);
  n_instances = 0;
  return 0;
}

int main(int argc, char** argv) {
  const char* const trace = getenv("EFFORT_TRACE");
  followed = trace && strcmp(trace, "on") == 0;
  over_nodes = argc > 1 && strcmp(argv[1], "nodes") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  since = now();
  PMPI_Bcast(&since, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  effort_region_id slow, even;
  int bad = effort_init_mpi(MPI_COMM_WORLD, NULL) != EFFORT_OK || effort_on_rebalance(check_hint, NULL) != EFFORT_OK ||
            effort_region("slow", EFFORT_COMPUTE, &slow) != EFFORT_OK ||
            effort_region("even", EFFORT_COMPUTE, &even) != EFFORT_OK;
  for (int step = 0; step < n_steps && !bad; ++step) {
    if (step % (2 * window) == 0) { /* communicators come and go */
      if (step > 0) MPI_Comm_free(&half);
      MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
      MPI_Comm_rank(half, &half_rank);
      MPI_Comm_size(half, &half_size);
    }
    const int late = 1 + step / window % (size - 1);
    double x = 1, y = 0;
    effort_begin(even);
    work(1);
    effort_end(even);
    effort_begin(slow);
    work(rank == late ? 12 : 2);
    effort_end(slow);
    arrive(0, to_all, 0);
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work(half_rank == 1 ? 1 : 0);
    arrive(1, from_root, 1);
    MPI_Bcast(&x, 1, MPI_DOUBLE, 1, half);
    work(rank == size - 1 ? 1 : 0);
    arrive(0, scan, 0);
    MPI_Scan(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    arrive(1, to_root, 0);
    MPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, 0, half);
    for (int i = 0; i < (step / window == 1 ? 1000 : 1); ++i) {
      arrive(0, to_all, 0);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    bad = effort_progress_step() != EFFORT_OK;
  }
  if (hints != n_steps / window) {
    fprintf(stderr, "%d hints, not %d\n", hints, n_steps / window);
    wrong = 1;
  }
  wrong |= 2 * inexact >= hints;
  if (rank == 0 && over_nodes) {
    FILE* const file = fopen("waits.txt", "w");
    if (file) fprintf(file, "%.0f\n", 1e9 * largest_error);
    wrong |= !file || fclose(file) != 0;
  }
  bad |= effort_finalize() != EFFORT_OK;
  MPI_Finalize();
  return bad || wrong;
}
