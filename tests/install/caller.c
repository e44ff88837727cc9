/* A caller outside the project, in C99. Every hint goes to the callback, in the same step and with the same contents on
 * all ranks. */
#include <effort/effort_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n_steps = 43 };

static int rank, size, calls, bad;
static int64_t step, last_seen = -1;

static void expect(int good, const char* what) {
  if (good) return;
  ++bad;
  fprintf(stderr, "rank %d, step %ld: %s\n", rank, (long)step, what);
}

static void same(const void* data, size_t bytes, const char* what) {
  char* const first = (char*)malloc(bytes + 1);
  memcpy(first, data, bytes);
  MPI_Bcast(first, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  expect(memcmp(first, data, bytes) == 0, what);
  free(first);
}

static int on_rebalance(const effort_hint* h, void* user) {
  const double numbers[] = {h->imbalance, h->gain_per_step, h->rebalance_cost};
  const int64_t counts[] = {h->step,     h->window_first, h->window_last,    h->n_ranks,
                            h->n_strata, h->rebalance,    (int64_t)h->advice};
  ++calls;
  expect(user == &calls && h->struct_size >= sizeof *h, "wrong user pointer or struct");
  expect(h->rank == rank && h->n_ranks == size && h->step == step, "rank, size or step");
  expect(h->window_first <= h->window_last && h->window_last > last_seen && h->step - h->window_last <= 2,
         "the window");
  last_seen = h->window_last;
  same(numbers, sizeof numbers, "numbers differ");
  same(counts, sizeof counts, "counts differ");
  same(h->load, (size_t)size * sizeof *h->load, "loads differ");
  same(h->predicted, (size_t)size * sizeof *h->predicted, "predictions differ");
  same(h->stratum, (size_t)size * sizeof *h->stratum, "strata differ");
  same(h->medoid_rank, (size_t)h->n_strata * sizeof *h->medoid_rank, "medoids differ");
  for (int r = 0; r < size; ++r)
    expect(h->load[r] > 0 && h->stratum[r] >= 0 && h->stratum[r] < h->n_strata, "a rank without load or stratum");
  return 0;
}

int main(int argc, char** argv) {
  volatile double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect(effort_init_mpi(MPI_COMM_WORLD, NULL) == EFFORT_OK, "init");
  expect(effort_on_rebalance(on_rebalance, &calls) == EFFORT_OK, "callback");
  for (step = 0; step < n_steps; ++step) {
    EFFORT_BEGIN("solve");
    for (long i = 0; i < 2000L * (1 + rank % 3); ++i) sum = sum + (double)i;
    EFFORT_END("solve");
    if (step % 5 == rank % 5) EFFORT_BEGIN("now and then");
    if (step % 5 == rank % 5) EFFORT_END("now and then");
    expect(effort_progress_step() == EFFORT_OK, "step");
  }
  expect(calls >= 2, "the number of hints");
  expect(effort_finalize() == EFFORT_OK, "finalize");
  MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return bad != 0;
}
