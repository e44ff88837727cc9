/* hints LEVEL FILE: hints from a deterministic application metric.  Every rank gets them at the same step with the
 * same bits.  Rank 0 writes its hints to FILE, so that thread levels and node splits can be compared; values that
 * depend on rounded sums go to FILE.rounded.  A second session uses time as load: its hints differ between runs but
 * not between ranks. */
#define _POSIX_C_SOURCE 200809L
#include "mpi_check.h"

#include <time.h>

enum { n_steps = 40, window = 4, lag = 2 }; /* means over 4 steps are exact */

static int rank, size, calls, moved, units_seen, efficiencies_seen;
static long step;
static FILE *record, *rounded;

/* The work of rank r in a step, as integers, so that sums are exact.  A rebalance at the first hint equalizes it. */
static double share(int r, long s) { return moved ? 4.0 : 1.0 + r % 4 + (double)(s % 3); }

static int rebalanced_at(const effort_hint* h) { return h->window_first == 2 * window; }

static int region_of(const effort_hint* h, const char* name) {
  for (int r = 0; r < h->n_regions; ++r)
    if (strcmp(h->region_name[r], name) == 0) return r;
  return -1;
}

static void compare(const void* data, size_t bytes, const char* what) {
  if (bytes == 0) return;
  if (!same_everywhere(data, bytes, MPI_COMM_WORLD)) {
    fprintf(stderr, "hint %d: %s differs between ranks\n", calls, what);
    CHECK(0);
  }
  if (record) fwrite(data, 1, bytes, record);
}

/* Sums of rounded values: the last bit may depend on how ranks are split into nodes, but not on rank or thread level.
 */
static void compare_rounded(const void* data, size_t bytes, const char* what) {
  FILE* const file = record;
  record = rounded;
  compare(data, bytes, what);
  record = file;
}

static void compare_arrays(const effort_hint* h) {
  const size_t n = (size_t)size, strata = (size_t)h->n_strata, regions = (size_t)h->n_regions;
  compare(h->load, n * sizeof(double), "load");
  compare(h->predicted, n * sizeof(double), "predicted");
  compare(h->stratum, n * sizeof(int32_t), "stratum");
  compare(h->medoid_rank, strata * sizeof(int32_t), "medoid_rank");
  compare_rounded(h->stratum_region_load, strata * regions * sizeof(double), "stratum_region_load");
  for (int r = 0; r < h->n_regions; ++r) compare(h->region_name[r], strlen(h->region_name[r]) + 1, "region_name");
  for (int u = 0; u < h->n_units; ++u) compare(h->unit_name[u], strlen(h->unit_name[u]) + 1, "unit_name");
  compare_rounded(h->unit_cost, (size_t)h->n_units * sizeof(double), "unit_cost");
  compare_rounded(h->unit_cost_error, (size_t)h->n_units * sizeof(double), "unit_cost_error");
  compare_rounded(h->speed, n * sizeof(double), "speed");
}

static void compare_numbers(const effort_hint* h) {
  const int64_t steps[] = {h->step,     h->window_first, h->window_last, h->n_ranks, h->n_regions,
                           h->n_strata, h->rebalance,    h->advice,      h->n_units, h->worst_region};
  const double numbers[] = {h->imbalance, h->gain_per_step, h->rebalance_cost, h->worst_region_share, h->load_balance};
  compare(steps, sizeof steps, "a count");
  compare(numbers, sizeof numbers, "a number");
  const double rounded_numbers[] = {h->prediction_error, h->ideal_saving, h->expected_saving};
  const double efficiencies[] = {h->parallel_efficiency, h->communication_efficiency, h->transfer_efficiency};
  compare_rounded(rounded_numbers, sizeof rounded_numbers, "an error or a saving");
  compare(efficiencies, sizeof efficiencies, "an efficiency");
}

static void right_content(const effort_hint* h) {
  double sum = 0, largest = 0;
  CHECK(h->step == step && h->step == (calls + 1) * window - 1 + lag);
  CHECK(h->rank == rank && h->n_ranks == size);
  CHECK(!h->delay && !h->delay_region && h->transfer_efficiency < 0); /* nobody sees the collectives */
  /* The window after the rebalance begins with the first new step. */
  const long first = calls * window;
  CHECK(h->window_first == (calls == 3 ? first + lag : first) && h->window_last == first + window - 1);
  for (int r = 0; r < size; ++r) {
    double want = 0;
    if (!moved) {
      for (long s = h->window_first; s <= h->window_last; ++s) want += share(r, s);
      CHECK(h->load[r] == want / window);
    }
    sum += h->load[r];
    largest = h->load[r] > largest ? h->load[r] : largest;
    CHECK(h->stratum[r] >= 0 && h->stratum[r] < h->n_strata);
  }
  CHECK_NEAR(h->imbalance, largest / (sum / size) - 1, 1e-12);
  for (int k = 0; k < h->n_strata; ++k) CHECK(h->stratum[h->medoid_rank[k]] == k);
  CHECK(h->parallel_efficiency < 0); /* no time, no share of it */
  units_seen += h->n_units;
  const int work = region_of(h, "work");
  if (CHECK(work >= 0)) CHECK(h->region_load[work] == h->load[rank]);
  if (rank % 2 == 0) CHECK(region_of(h, "only on even ranks") >= 0);
  CHECK(region_of(h, "waiting") >= 0 && h->region_load[region_of(h, "waiting")] == 0);
  CHECK(h->rebalance_cost < 0); /* seconds say nothing beside this metric */
  CHECK(!(h->advice & EFFORT_ADVICE_STALE));
  if (h->window_first <= 2 * window) CHECK(h->rebalance == (h->imbalance > 0.1));
  if (h->window_first > 2 * window) CHECK(h->imbalance == 0 && h->rebalance == 0);
}

/* Only one rank rebalances, and another one's callback fails: the maximum of the answers counts. */
static int on_rebalance(const effort_hint* h, void* user) {
  CHECK(user == &rank);
  right_content(h);
  compare_numbers(h);
  compare_arrays(h);
  ++calls;
  if (!rebalanced_at(h)) return 0;
  moved = 1;
  return rank == size - 1 ? 1 : rank == 0 ? -3 : 0;
}

/* The same regions in another order on every rank, one of them not at all on odd ranks. */
static void define_regions(int32_t* work, int32_t* waiting) {
  int32_t other;
  char name[32];
  for (int i = 0; i < 3; ++i) {
    snprintf(name, sizeof name, "filler %d", (i + rank) % 3);
    CHECK_OK(effort_region(name, EFFORT_COMPUTE, &other));
  }
  if (rank % 2 == 0) CHECK_OK(effort_region("only on even ranks", EFFORT_IO, &other));
  if (rank % 3 == 1) CHECK_OK(effort_region("waiting", EFFORT_WAIT, waiting));
  CHECK_OK(effort_region("work", EFFORT_COMPUTE, work));
  CHECK_OK(effort_region("waiting", EFFORT_WAIT, waiting));
}

static void run(void) {
  int32_t work, waiting, amount, cells;
  define_regions(&work, &waiting);
  CHECK_OK(effort_work_unit("cells", &cells));
  CHECK_OK(effort_metric_define("amount", "1", &amount));
  CHECK_OK(effort_on_rebalance(on_rebalance, &rank));
  for (step = 0; step < n_steps; ++step) {
    CHECK_OK(effort_begin(work));
    CHECK_OK(effort_metric(amount, share(rank, step)));
    CHECK_OK(effort_end(work));
    CHECK_OK(effort_work(cells, 3 * share(rank, step)));
    CHECK_OK(effort_begin(waiting));
    if (step % 7 == 3) MPI_Barrier(MPI_COMM_WORLD); /* ranks drift apart between these */
    CHECK_OK(effort_end(waiting));
    CHECK_OK(effort_progress_step());
  }
  CHECK(calls == n_steps / window - 1);
  CHECK(units_seen > 0);
}

/* At the first hint rank 0 fails immediately while the others rebalance: the price is that of the others. */
static int on_timed_rebalance(const effort_hint* h, void* user) {
  const struct timespec takes = {0, 20000000};
  CHECK(user == &rank && h->rank == rank);
  compare_numbers(h);
  compare_arrays(h);
  efficiencies_seen += h->parallel_efficiency > 0 && h->communication_efficiency > 0;
  if (++calls > 1) CHECK(h->rebalance_cost >= 0.99 * 0.02);
  if (calls > 1) return 0;
  if (rank == 0) return -1;
  nanosleep(&takes, NULL);
  return 1;
}

/* Loads are real times: the test only knows that all ranks must get the same values. */
static void run_on_time(void) {
  int32_t work, cells;
  volatile double sum = 0;
  record = rounded = NULL;
  calls = units_seen = 0;
  CHECK_OK(effort_region("work", EFFORT_COMPUTE, &work));
  CHECK_OK(effort_work_unit("cells", &cells));
  CHECK_OK(effort_on_rebalance(on_timed_rebalance, &rank));
  for (step = 0; step < n_steps; ++step) {
    const long n = 4000L * (1 + (rank + step / window) % 4);
    CHECK_OK(effort_begin(work));
    for (long i = 0; i < n; ++i) sum = sum + (double)i;
    CHECK_OK(effort_end(work));
    CHECK_OK(effort_work(cells, (double)n));
    CHECK_OK(effort_progress_step());
  }
  CHECK(calls == n_steps / window - 1 && efficiencies_seen == calls);
}

int main(int argc, char** argv) {
  static const char* const settings[] = {"WINDOW", "4", "LOAD_METRIC", "amount", NULL};
  static const char* const by_time[] = {"WINDOW", "4", NULL};
  if (argc < 3) return 2;
  start_mpi(&argc, &argv, argv[1]);
  rank = my_rank(MPI_COMM_WORLD);
  size = ranks_of(MPI_COMM_WORLD);
  if (rank == 0) {
    char path[1024];
    snprintf(path, sizeof path, "%s.rounded", argv[2]);
    CHECK((record = fopen(argv[2], "wb")) != NULL);
    CHECK((rounded = fopen(path, "wb")) != NULL);
  }
  effort_config* config = config_of(settings);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, config));
  CHECK_OK(effort_config_free(config));
  run();
  CHECK_OK(effort_finalize());
  if (record) fclose(record);
  if (rounded) fclose(rounded);
  config = config_of(by_time);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, config));
  CHECK_OK(effort_config_free(config));
  run_on_time();
  CHECK_OK(effort_finalize());
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
