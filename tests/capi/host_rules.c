/* Hosts with their own floating-point settings: traps, another rounding mode, denormal numbers flushed to zero.  The
 * library uses its own settings and leaves the host's unchanged. */
#define _GNU_SOURCE
#include "check.h"

#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { window = 5, steps = 40 };
static const int trapping = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW;
static const double third = 1.0 / 3; /* sums of it are inexact */
static const char* metrics;
static int calls, traps_in_callback, rounding_in_callback;

static int called(const effort_hint* hint, void* user) {
  (void)hint;
  (void)user;
  ++calls;
  traps_in_callback = fegetexcept();
  rounding_in_callback = fegetround();
  return 0;
}

static void start(effort_region_id* solve, effort_work_id* cells, effort_metric_id* count) {
  effort_config* config = NULL;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "WINDOW", "5"));
  CHECK_OK(effort_config_set(config, "LOAD_METRIC", "count"));
  if (metrics) CHECK_OK(effort_config_set(config, "METRICS", metrics));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, solve));
  CHECK_OK(effort_work_unit("cells", cells));
  CHECK_OK(effort_metric_define("count", "1", count));
  CHECK_OK(effort_on_rebalance(called, NULL));
}

/* The host's own arithmetic is exact, whatever the rounding; the sums in the library are not. */
static void step(effort_region_id solve, effort_work_id cells, effort_metric_id count, int s, double load) {
  CHECK_OK(effort_begin(solve));
  for (int i = 0; i < 100 + s * s % 37; ++i) CHECK_OK(effort_metric(count, load * third));
  for (int i = 0; i < 3 + s % 5; ++i) CHECK_OK(effort_work(cells, load * third));
  CHECK_OK(effort_end(solve));
  CHECK_OK(effort_add(solve, 0));
  CHECK_OK(effort_progress_step());
}

/* The loads in the last hint. */
struct Said {
  double load, predicted, unit_cost, imbalance;
};

static struct Said run(double load) {
  struct Said said = {0, 0, 0, 0};
  effort_region_id solve;
  effort_work_id cells;
  effort_metric_id count;
  effort_hint hint;
  calls = 0;
  start(&solve, &cells, &count);
  for (int s = 0; s < steps; ++s) step(solve, cells, count, s, load);
  CHECK_OK(effort_hint_latest(&hint));
  said.load = hint.load[0];
  said.predicted = hint.predicted[0];
  said.unit_cost = hint.n_units > 0 ? hint.unit_cost[0] : -1;
  said.imbalance = hint.imbalance;
  CHECK_OK(effort_snapshot(NULL));
  CHECK_OK(effort_finalize());
  CHECK(calls > 2);
  return said;
}

static void add_thirds(effort_region_id solve, effort_work_id cells, effort_metric_id count) {
  CHECK_OK(effort_add(solve, third));
  CHECK_OK(effort_work(cells, third));
  CHECK_OK(effort_metric(count, third));
}

/* Some debug builds trap even on inexact results. */
static void inexact(const char* wanted) {
  effort_region_id solve;
  effort_work_id cells;
  effort_metric_id count;
  metrics = wanted;
  feclearexcept(FE_ALL_EXCEPT);
  start(&solve, &cells, &count);
  feenableexcept(FE_INEXACT);
  const int enabled = fegetexcept();
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(effort_begin(solve));
    add_thirds(solve, cells, count);
    CHECK_OK(effort_end(solve));
  }
  CHECK_OK(effort_progress_step());
  CHECK_OK(effort_finalize());
  CHECK(fegetexcept() == enabled && fetestexcept(FE_ALL_EXCEPT) == 0);
  fedisableexcept(FE_INEXACT);
  metrics = NULL;
}

static void traps(void) {
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(trapping);
  const int enabled = fegetexcept(); /* many arm64 processors cannot trap */
  run(0);
  CHECK(traps_in_callback == enabled);
  run(1);
  CHECK(fegetexcept() == enabled);
  /* Amounts that would trap when compared or added. */
  effort_region_id solve;
  effort_work_id cells;
  effort_metric_id count;
  start(&solve, &cells, &count);
  CHECK_FAILS(effort_metric(count, NAN), EFFORT_ERR_INVALID_ARGUMENT, "finite");
  CHECK_FAILS(effort_work(cells, INFINITY), EFFORT_ERR_INVALID_ARGUMENT, "finite");
  CHECK_OK(effort_metric(count, 1e-320));
  CHECK_OK(effort_metric(count, 1e-320));
  CHECK_OK(effort_progress_step());
  CHECK_OK(effort_finalize());
  inexact(NULL);
  inexact("time,cpu_time,page_faults,rss,calls");
  fedisableexcept(FE_ALL_EXCEPT);
}

static void same_bits(void) {
  const struct Said usual = run(1);
  fenv_t before;
  fegetenv(&before);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040); /* flush results to zero, take operands as zero */
#endif
  fesetround(FE_UPWARD);
  feclearexcept(FE_ALL_EXCEPT);
  feraiseexcept(FE_DIVBYZERO);
  const struct Said there = run(1);
  CHECK(fetestexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO);
  CHECK(fegetround() == FE_UPWARD && rounding_in_callback == FE_UPWARD);
#if defined(__x86_64__)
  CHECK((_mm_getcsr() & 0x8040) == 0x8040);
#endif
  fesetenv(&before);
  CHECK(memcmp(&usual, &there, sizeof usual) == 0);
}

static void flags(void) {
  effort_region_id solve;
  effort_work_id cells;
  effort_metric_id count;
  feclearexcept(FE_ALL_EXCEPT);
  start(&solve, &cells, &count);
  for (int s = 0; s < steps; ++s) {
    add_thirds(solve, cells, count);
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_snapshot(NULL));
  CHECK_OK(effort_finalize());
  CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
}

/* A thread is cancelled after a call and not in the middle of it. */
static void* cancelled(void* unused) {
  effort_region_id solve;
  effort_work_id cells;
  effort_metric_id count;
  int state;
  (void)unused;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  start(&solve, &cells, &count);
  for (int s = 0; s < 2 * window; ++s) CHECK_OK(effort_progress_step());
  pthread_cancel(pthread_self());
  pthread_setcancelstate(state, NULL);
  CHECK_OK(effort_finalize()); /* waits */
  CHECK_OK(effort_init(NULL));
  CHECK_OK(effort_progress_step());
  CHECK_OK(effort_finalize());
  pthread_testcancel();
  CHECK(!"reached");
  return NULL;
}

static void cancellation(void) {
  pthread_t thread;
  void* outcome = NULL;
  CHECK(pthread_create(&thread, NULL, cancelled, NULL) == 0);
  CHECK(pthread_join(thread, &outcome) == 0);
  CHECK(outcome == PTHREAD_CANCELED);
  run(1);
}

int main(void) {
  traps();
  same_bits();
  flags();
  cancellation();
  return failures() != 0;
}
