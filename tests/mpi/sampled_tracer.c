/* A host that switches EZTrace on while its rank is in the sample, and off otherwise.  It is run under `eztrace`, and
 * prints how many calls of MPI_Scan each rank made while it was in the sample, and in all. */
#include "mpi_check.h"

#include <dlfcn.h>

static void (*tracer_on)(void);
static void (*tracer_off)(void);
static int changes;

static void switch_tracer(int sampled, int64_t step, void* user) {
  (void)user;
  ++changes;
  CHECK(step % 5 == 0); /* a window begins */
  (sampled ? tracer_on : tracer_off)();
}

static int find_tracer(void) {
  *(void**)&tracer_on = dlsym(RTLD_DEFAULT, "eztrace_resume");
  *(void**)&tracer_off = dlsym(RTLD_DEFAULT, "eztrace_pause");
  return tracer_on && tracer_off;
}

int main(int argc, char** argv) {
  static const char* const settings[] = {"WINDOW",      "5",    "HINT_LAG",     "1", "LOAD_METRIC",  "cells",
                                         "TRACE_ERROR", "0.25", "TRACE_UPDATE", "2", "TRACE_DESIGN", "subset",
                                         NULL};
  enum { steps = 60, scans = 3 };
  int s, i, sampled = 0, sum = 0;
  effort_metric_id cells;
  effort_config* config;
  start_mpi(&argc, &argv, "init");
  if (!find_tracer()) {
    fprintf(stderr, "eztrace_resume and eztrace_pause were not found: run this under eztrace\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  tracer_off();
  config = config_of(settings);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_on_sampling(switch_tracer, NULL));
  CHECK_OK(effort_metric_define("cells", "1", &cells));
  for (s = 0; s < steps; ++s) {
    effort_region_id solve;
    CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
    CHECK_OK(effort_begin(solve));
    CHECK_OK(effort_metric(cells, 1000 + 300 * (my_rank(MPI_COMM_WORLD) % 3)));
    CHECK_OK(effort_end(solve));
    for (i = 0; i < scans; ++i) MPI_Scan(&s, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sampled += effort_sampled() ? scans : 0;
    CHECK_OK(effort_progress_step());
  }
  tracer_off();
  CHECK_OK(effort_finalize());
  printf("rank %d scans %d of %d changes %d\n", my_rank(MPI_COMM_WORLD), sampled, steps * scans, changes);
  i = failures_of_all();
  MPI_Finalize();
  return i != 0;
}
