#include "measure.h"

#include <stdlib.h>
#include <time.h>

#include "particles.h"

static double seconds_on(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double cpu_of_thread(void) { return seconds_on(CLOCK_THREAD_CPUTIME_ID); }
double cpu_of_process(void) { return seconds_on(CLOCK_PROCESS_CPUTIME_ID); }

void measure_init(measure* m, int steps) { *m = (measure){.compute = resize(NULL, (size_t)steps, sizeof *m->compute)}; }

void measure_free(measure* m) { free(m->compute); }

void measure_regions(measure* m) {
  effort_region("integrate", EFFORT_COMPUTE, &m->region[SECTION_INTEGRATE]);
  effort_region("neighbour", EFFORT_COMPUTE, &m->region[SECTION_NEIGHBOUR]);
  effort_region("force", EFFORT_COMPUTE, &m->region[SECTION_FORCE]);
  effort_region("migrate", EFFORT_COMM, &m->region[SECTION_MIGRATE]);
  effort_region("ghost", EFFORT_COMM, &m->region[SECTION_GHOST]);
  effort_region("reduce", EFFORT_COMM, &m->region[SECTION_REDUCE]);
}

void measure_begin(measure* m, section s) {
  if (s != SECTION_REBALANCE) effort_begin(m->region[s]);
  m->started = cpu_of_thread();
}

void measure_end(measure* m, section s) {
  m->seconds[s] += cpu_of_thread() - m->started;
  if (s != SECTION_REBALANCE) effort_end(m->region[s]);
}

void measure_step(measure* m) {
  const double compute = m->seconds[SECTION_INTEGRATE] + m->seconds[SECTION_NEIGHBOUR] + m->seconds[SECTION_FORCE];
  m->compute[m->n_steps++] = compute - m->compute_before;
  m->compute_before = compute;
}

double measure_recent(const measure* m, int n) {
  double sum = 0.0;
  for (int k = m->n_steps - n; k < m->n_steps; ++k) sum += m->compute[k];
  return sum / n;
}
