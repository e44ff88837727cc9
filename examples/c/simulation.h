/* All of one rank's state. */
#ifndef SIMULATION_H
#define SIMULATION_H

#include <mpi.h>

#include "cells.h"
#include "conserved.h"
#include "domain.h"
#include "exchange.h"
#include "measure.h"
#include "options.h"
#include "particles.h"

typedef struct simulation {
  options opt;
  MPI_Comm comm;
  int rank, n_ranks;
  domain domain;
  exchange exchange;
  cells cells;
  particle_list particles;
  ghost_list ghosts;
  measure measure;
  effort_work_id unit_particles, unit_pairs;
  int rebalances;
  int last_rebalance; /* steps completed by then */
  conserved at_start, at_end;
  double worst_energy, worst_momentum; /* largest deviations, per particle and relative */
  fingerprint early, late;             /* after 100 steps (or at the end of a shorter run), and at the end */
} simulation;

#endif
