/* The cost of each part of a step on this rank.  It is thread CPU time, because wall time does not measure work if
 * ranks share cores.  The same brackets begin and end effort's regions. */
#ifndef MEASURE_H
#define MEASURE_H

#include "effort_calls.h"

typedef enum section {
  SECTION_INTEGRATE, /* computation ... */
  SECTION_NEIGHBOUR,
  SECTION_FORCE,
  SECTION_MIGRATE, /* ... communication ... */
  SECTION_GHOST,
  SECTION_REDUCE,
  SECTION_REBALANCE, /* ... and rebalancing */
  N_SECTIONS
} section;

typedef struct measure {
  double started;             /* when the open section began */
  double seconds[N_SECTIONS]; /* of the whole run */
  double* compute;            /* [steps] of each step */
  int n_steps;                /* steps that are complete */
  double compute_before;      /* computation of the complete steps */
  effort_region_id region[N_SECTIONS];
} measure;

/* CPU seconds of the calling thread, and of the process with all its threads. */
double cpu_of_thread(void);
double cpu_of_process(void);

void measure_init(measure* m, int steps);
void measure_free(measure* m);

/* Registers the regions with effort; call it after hints_start. */
void measure_regions(measure* m);

/* Sections do not nest. */
void measure_begin(measure* m, section s);
void measure_end(measure* m, section s);

/* Records the step's cost. */
void measure_step(measure* m);

/* Mean computation of the last n steps, seconds per step. */
double measure_recent(const measure* m, int n);

#endif
