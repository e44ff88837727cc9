/* Hints of one process: when they arrive, what they contain, and what a callback may do. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <stddef.h>

#include <stdlib.h>
#include <time.h>

enum { window = 5, lag = 2 };

static int32_t solve, halo, setup, cells;
static long step; /* the step that is being ended */
static int calls, answer_at, forbidden;
static long fresh;      /* first step after the last rebalance */
static double expected; /* mean load of the hint's window */
static char marker;

static effort_config* configured(const char* load_metric) {
  effort_config* config = NULL;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "WINDOW", "5"));
  CHECK_OK(effort_config_set(config, "LOAD_METRIC", load_metric));
  return config;
}

static void start(const char* load_metric) {
  effort_config* config = configured(load_metric);
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  CHECK_OK(effort_region("halo", EFFORT_COMM, &halo));
  CHECK_OK(effort_region("setup", EFFORT_COMPUTE, &setup));
  calls = 0;
  answer_at = -1;
  fresh = 0;
}

static int region_of(const effort_hint* h, const char* name) {
  for (int r = 0; r < h->n_regions; ++r)
    if (strcmp(h->region_name[r], name) == 0) return r;
  return -1;
}

static void shape(const effort_hint* h) {
  CHECK(h->struct_size == sizeof *h);
  CHECK(h->rank == 0 && h->n_ranks == 1);
  CHECK(h->n_strata == 1 && h->stratum[0] == 0 && h->medoid_rank[0] == 0);
  CHECK(h->imbalance == 0.0 && h->load_balance == 1.0 && h->gain_per_step == 0.0);
  CHECK(h->rebalance == 0);
  CHECK(h->n_units == 0 || h->unit_cost[0] >= 0);
  CHECK(h->predicted[0] >= 0);
}

static int judge(const effort_hint* h, void* user) {
  const long last = (long)calls * window + window - 1;
  ++calls;
  CHECK(user == &marker);
  CHECK(h->step == step && h->step == last + lag);
  const long first = last - window + 1, left = last + 1 - fresh;
  CHECK(h->window_first == (fresh > first && 2 * left >= window ? fresh : first) && h->window_last == last);
  shape(h);
  effort_hint latest;
  CHECK_OK(effort_hint_latest(&latest));
  CHECK(latest.step == h->step && latest.load == h->load && latest.region_name == h->region_name);
  if (expected >= 0) CHECK_NEAR(h->load[0], expected, 1e-6 * expected);
  if (calls == answer_at) fresh = step + 1;
  return calls == answer_at ? 1 : 0;
}

/* Amounts of an application metric come back exactly: these sums have no rounding. */
static void application_metric(void) {
  start("flops");
  int32_t flops, other;
  CHECK_OK(effort_metric_define("flops", "1", &flops));
  CHECK_OK(effort_metric_define("other", "1", &other));
  CHECK_OK(effort_on_rebalance(judge, &marker));
  effort_hint h;
  CHECK_FAILS(effort_hint_latest(&h), EFFORT_ERR_NO_HINT, "no hint");
  expected = -1;
  for (step = 0; step < 4 * window; ++step) {
    CHECK_OK(effort_begin(solve));
    CHECK_OK(effort_metric(flops, 1.0 + (double)step));
    CHECK_OK(effort_metric(other, 1000.0));
    CHECK_OK(effort_metric(flops, 2.0));
    CHECK_OK(effort_begin(halo)); /* not COMPUTE: not load */
    CHECK_OK(effort_metric(flops, 64.0));
    CHECK_OK(effort_end(halo));
    CHECK_OK(effort_end(solve));
    CHECK_OK(effort_begin(setup));
    CHECK_OK(effort_metric(flops, 0.5));
    CHECK_OK(effort_end(setup));
    CHECK_OK(effort_progress_step());
    const effort_status latest = effort_hint_latest(&h);
    if (calls == 0) {
      CHECK_FAILS(latest, EFFORT_ERR_NO_HINT, "first");
    } else if (CHECK(latest == EFFORT_OK)) {
      const double mean = 3.0 + ((double)h.window_first + (double)h.window_last) / 2.0 + 0.5;
      CHECK(h.load[0] == mean);
      CHECK(h.n_regions == 3);
      CHECK(h.region_load[region_of(&h, "solve")] == mean - 0.5);
      CHECK(h.region_load[region_of(&h, "setup")] == 0.5);
      CHECK(h.region_load[region_of(&h, "halo")] == 0.0);
      CHECK(h.stratum_region_load[region_of(&h, "solve")] == mean - 0.5);
      CHECK(h.rebalance_cost < 0);
    }
  }
  CHECK(calls == 3);
  CHECK_OK(effort_finalize());
}

/* The host's own timers: added seconds appear in the hint, accurate to a tick of the clock. */
static void added_seconds(void) {
  start("time");
  CHECK_OK(effort_on_rebalance(judge, &marker));
  expected = 0.75;
  for (step = 0; step < 3 * window; ++step) {
    CHECK_OK(effort_add(solve, 0.5));
    CHECK_OK(effort_add(solve, 0.125));
    CHECK_OK(effort_add(setup, 0.125));
    CHECK_OK(effort_add(halo, 3.0));
    CHECK_OK(effort_progress_step());
  }
  CHECK(calls == 2);
  effort_hint h;
  CHECK_OK(effort_hint_latest(&h));
  CHECK_NEAR(h.region_load[region_of(&h, "solve")], 0.625, 1e-6);
  CHECK_NEAR(h.predicted[0], 0.75, 1e-6);
  CHECK_OK(effort_finalize());
}

/* After a rebalance in the callback, the next window begins with the first new step. */
static void fresh_after_rebalance(void) {
  start("time");
  CHECK_OK(effort_on_rebalance(judge, &marker));
  expected = -1;
  answer_at = 2; /* the hint of window 1, delivered in step 11, in window 2 */
  for (step = 0; step < 6 * window; ++step) {
    CHECK_OK(effort_add(solve, step < 12 ? 0.5 : 0.25));
    CHECK_OK(effort_progress_step());
    effort_hint h;
    if (effort_hint_latest(&h) != EFFORT_OK || h.step != step) continue;
    CHECK(!(h.advice & EFFORT_ADVICE_STALE));
    if (h.window_first > window) CHECK_NEAR(h.load[0], 0.25, 1e-6);
    if (h.window_first <= window) CHECK(h.rebalance_cost < 0 && (h.advice & EFFORT_ADVICE_NO_PRICE));
    if (h.window_first > window) CHECK(h.rebalance_cost >= 0 && !(h.advice & EFFORT_ADVICE_NO_PRICE));
  }
  CHECK(calls == 5);
  CHECK_OK(effort_finalize());
}

static void sleep_ms(int ms) {
  const struct timespec t = {0, ms * 1000000L};
  nanosleep(&t, NULL);
}

/* The price of a rebalance that happens elsewhere is the time between the brackets.  Too few steps of its window
 * remain, so that window is stale. */
static void bracketed_rebalance(void) {
  start("time");
  effort_hint h;
  for (step = 0; step < 4 * window; ++step) {
    CHECK_OK(effort_add(solve, 0.5));
    if (step == window + 3) {
      CHECK_OK(effort_rebalance_begin());
      sleep_ms(30);
      CHECK_OK(effort_rebalance_end());
    }
    CHECK_OK(effort_progress_step());
    if (effort_hint_latest(&h) != EFFORT_OK) continue;
    if (h.window_first == 0) CHECK(h.rebalance_cost < 0);
    if (h.window_first == 0)
      CHECK(((h.advice & EFFORT_ADVICE_STALE) != 0) == (step >= window + 3)); /* pulled after it */
    if (h.window_first == window) CHECK(h.advice & EFFORT_ADVICE_STALE);
    if (h.window_first >= window) CHECK(h.rebalance_cost >= 0.99 * 0.03 && h.rebalance_cost < 10);
    if (h.window_first == 2 * window) CHECK(!(h.advice & EFFORT_ADVICE_STALE));
  }
  CHECK(h.window_first == 2 * window);
  CHECK_OK(effort_finalize());
}

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The price is the time outside regions of kind COMM, WAIT or IO that were begun inside the rebalance, whatever is open
 * around it.  Every call is timed, even if the guard samples the region. */
static void price_of_computing(void) {
  start("cpu_time");
  effort_hint h;
  double own = 0, around = 0;
  for (step = 0; step < 8 * window; ++step) {
    CHECK_OK(effort_begin(solve));
    for (int i = 0; i < 20000; ++i) {
      CHECK_OK(effort_begin(halo));
      CHECK_OK(effort_end(halo));
    }
    CHECK_OK(effort_end(solve));
    if (step == 6 * window) {
      const double first = cpu_seconds();
      CHECK_OK(effort_begin(halo));
      CHECK_OK(effort_rebalance_begin());
      for (int i = 0; i < 100; ++i) {
        const double before = cpu_seconds();
        while (cpu_seconds() < before + 1e-4) continue;
        own += cpu_seconds() - before;
        CHECK_OK(effort_begin(halo));
        while (cpu_seconds() < before + 3e-4) continue;
        CHECK_OK(effort_end(halo));
      }
      CHECK_OK(effort_rebalance_end());
      CHECK_OK(effort_end(halo));
      around = cpu_seconds() - first;
    }
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_hint_latest(&h));
  CHECK(h.rebalance_cost >= 0.99 * own && h.rebalance_cost < 0.5 * around);
  CHECK_OK(effort_finalize());
}

static int never_told(const effort_hint* h, void* user) {
  const long* done = user; /* the step of the rebalance, or -1 while it is open */
  CHECK(((h->advice & EFFORT_ADVICE_STALE) != 0) == (*done == -1 || h->window_first <= *done));
  if (h->advice & EFFORT_ADVICE_STALE) CHECK(h->rebalance == 0);
  ++calls;
  return 0;
}

/* After a rebalance between a window's end and its hint, the hint describes an outdated distribution.  The same holds
 * for a hint that is delivered during a rebalance. */
static void overtaken_hint(void) {
  for (int open = 0; open < 2; ++open) {
    long done = -2; /* none yet */
    start("time");
    CHECK_OK(effort_on_rebalance(never_told, &done));
    for (step = 0; step < 4 * window; ++step) {
      CHECK_OK(effort_add(solve, 0.5));
      if (step == window) {
        CHECK_OK(effort_rebalance_begin());
        CHECK_FAILS(effort_rebalance_begin(), EFFORT_ERR_NESTING, "twice");
        done = -1;
      }
      if (step == window + 2 * open) {
        CHECK_OK(effort_rebalance_end());
        done = step;
      }
      CHECK_OK(effort_progress_step());
    }
    CHECK(calls == 3);
    CHECK_OK(effort_finalize());
  }
}

static int forbidden_calls(const effort_hint* h, void* user) {
  effort_hint latest;
  int32_t id;
  (void)user;
  ++forbidden;
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_CALLBACK, "effort_progress_step");
  CHECK_FAILS(effort_finalize(), EFFORT_ERR_CALLBACK, "effort_finalize");
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_CALLBACK, "effort_init");
  CHECK_FAILS(effort_snapshot(NULL), EFFORT_ERR_CALLBACK, "effort_snapshot");
  /* Everything else is allowed. */
  CHECK_OK(effort_hint_latest(&latest));
  char name[32]; /* a new region in every hint */
  snprintf(name, sizeof name, "in callback %d", forbidden);
  CHECK(region_of(h, name) < 0);
  CHECK_OK(effort_region(name, EFFORT_COMPUTE, &id));
  CHECK_OK(effort_begin(id));
  CHECK_OK(effort_end(id));
  CHECK_OK(effort_add(id, 0.25));
  CHECK_OK(effort_work(cells, 1.0));
  CHECK_OK(effort_phase("from the callback"));
  CHECK_OK(effort_rebalance_begin());
  CHECK_OK(effort_rebalance_end());
  CHECK_OK(effort_on_rebalance(forbidden_calls, NULL));
  return 0;
}

/* A caller compiled with a smaller or a larger struct than the library's. */
static void other_sizes_of_the_struct(void) {
  struct {
    effort_hint hint;
    unsigned char more[64];
  } h;
  const size_t older = offsetof(effort_hint, expected_saving);
  start("time");
  for (int s = 0; s < 12; ++s) CHECK_OK(effort_progress_step());
  memset(&h, 0xab, sizeof h);
  CHECK_OK(effort_hint_copy(&h.hint, older));
  CHECK(h.hint.struct_size == sizeof(effort_hint) && h.hint.step == 11);
  for (size_t i = older; i < sizeof h; ++i)
    if (!CHECK(((unsigned char*)&h)[i] == 0xab)) break;
  CHECK_OK(effort_hint_copy(&h.hint, sizeof h));
  for (size_t i = 0; i < sizeof h.more; ++i)
    if (!CHECK(h.more[i] == 0)) break;
  memset(&h, 0xab, sizeof h);
  CHECK_OK((effort_hint_latest)(&h.hint));
  CHECK(h.hint.step == 11 && h.more[0] == 0xab);
  CHECK_OK(effort_finalize());
}

static void callback_calls(void) {
  start("time");
  CHECK_OK(effort_work_unit("cells", &cells));
  CHECK_OK(effort_on_rebalance(forbidden_calls, NULL));
  for (step = 0; step < 3 * window; ++step) CHECK_OK(effort_progress_step());
  CHECK(forbidden == 2);
  effort_hint h;
  CHECK_OK(effort_hint_latest(&h));
  CHECK(region_of(&h, "in callback 1") >= 0);
  CHECK_OK(effort_on_rebalance(NULL, NULL));
  for (step = 0; step < 3 * window; ++step) CHECK_OK(effort_progress_step());
  CHECK(forbidden == 2);
  CHECK_OK(effort_finalize());
}

static int failing(const effort_hint* h, void* user) {
  (void)h;
  ++*(int*)user;
  return -5;
}

/* A callback that fails does not count as a rebalance, and the run continues. */
static void failing_callback(void) {
  int times = 0;
  start("time");
  CHECK_OK(effort_on_rebalance(failing, &times));
  effort_hint h;
  for (step = 0; step < 4 * window; ++step) {
    CHECK_OK(effort_add(solve, 0.5));
    CHECK_OK(effort_progress_step());
  }
  CHECK(times == 3);
  CHECK_OK(effort_hint_latest(&h));
  CHECK(h.rebalance_cost < 0 && !(h.advice & EFFORT_ADVICE_STALE));
  CHECK_OK(effort_finalize());
}

int main(void) {
  application_metric();
  added_seconds();
  fresh_after_rebalance();
  bracketed_rebalance();
  price_of_computing();
  overtaken_hint();
  callback_calls();
  failing_callback();
  other_sizes_of_the_struct();
  return failures() != 0;
}
