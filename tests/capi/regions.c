/* Time in regions: exclusive, and split at the ends of steps. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <time.h>

enum { window = 5, lag = 2 };

static int32_t solve, halo, setup;

static void start(void) {
  effort_config* config = NULL;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "WINDOW", "5"));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  CHECK_OK(effort_region("halo", EFFORT_COMM, &halo));
  CHECK_OK(effort_region("setup", EFFORT_COMPUTE, &setup));
}

static int region_of(const effort_hint* h, const char* name) {
  for (int r = 0; r < h->n_regions; ++r)
    if (strcmp(h->region_name[r], name) == 0) return r;
  return -1;
}

static void sleep_ms(int ms) {
  const struct timespec t = {0, ms * 1000000L};
  nanosleep(&t, NULL);
}

/* A region that is open across steps is split there: each step is charged its share. */
static void open_across_steps(void) {
  start();
  double longest = 0;
  CHECK_OK(effort_begin(solve));
  for (long step = 0; step < 2 * window + lag; ++step) {
    sleep_ms(4);
    CHECK_OK(effort_progress_step());
    effort_hint h;
    if (effort_hint_latest(&h) != EFFORT_OK) continue;
    CHECK(h.load[0] >= 0.99 * 0.004); /* two clocks */
    if (h.load[0] > longest) longest = h.load[0];
    if (h.window_first > 0) break;
  }
  CHECK(longest > 0);
  CHECK_OK(effort_end(solve));
  CHECK_FAILS(effort_end(solve), EFFORT_ERR_NESTING, "none open");
  CHECK_OK(effort_finalize());
}

static double clock_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Time is charged to the innermost region: a nested COMM region is not load, and a nested COMPUTE region is not counted
 * twice.  The host's clock around everything, minus the time inside the COMM region, bounds the load even on a shared
 * machine. */
static void exclusive_time(void) {
  start();
  effort_hint h;
  double outer = 0, in_halo = 0;
  for (long step = 0; step < window + lag; ++step) {
    const double begun = clock_seconds();
    CHECK_OK(effort_begin(solve));
    CHECK_OK(effort_begin(halo));
    const double waiting = clock_seconds();
    sleep_ms(20);
    if (step < window) in_halo += clock_seconds() - waiting;
    CHECK_OK(effort_end(halo));
    CHECK_OK(effort_begin(setup));
    sleep_ms(4);
    CHECK_OK(effort_end(setup));
    CHECK_OK(effort_end(solve));
    if (step < window) outer += clock_seconds() - begun;
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_hint_latest(&h));
  const double of_solve = h.region_load[region_of(&h, "solve")], of_setup = h.region_load[region_of(&h, "setup")];
  CHECK(of_setup >= 0.99 * 0.004 && h.load[0] * window <= outer - in_halo + 0.01 * outer);
  CHECK_NEAR(h.load[0], of_solve + of_setup, 1e-9);
  CHECK(h.region_load[region_of(&h, "halo")] == 0.0);
  CHECK_OK(effort_finalize());
}

int main(void) {
  open_across_steps();
  exclusive_time();
  return failures() != 0;
}
