/* The output of rank 0 at the end. */
#ifndef REPORT_H
#define REPORT_H

#include "simulation.h"

/* Duration of the time loop. */
typedef struct loop_cost {
  double wall, thread_cpu, process_cpu; /* seconds; the latter two of this rank */
} loop_cost;

/* Prints the physics checks and where the time went.  Collective; returns 0 on all ranks if the physics holds. */
int report(simulation* s, loop_cost cost);

#endif
