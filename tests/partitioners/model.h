/* A model of work for the tests of adapters to partitioners. The library must fit its costs.
 *
 * Each item has one cell and some interfaces, more of them towards the end; a cell costs 2 and an interface 5. */
#ifndef EFFORT_TESTS_PARTITIONERS_MODEL_H
#define EFFORT_TESTS_PARTITIONERS_MODEL_H

#include "mpi_check.h"

#include <stdlib.h>

enum { n_units = 2 };

static inline void amounts_of(double place, double* amount) { /* place: from 0 to 1 */
  amount[0] = 1;
  amount[1] = place > 0.75 ? 9 : place > 0.5 ? 3 : place > 0.2 ? 1 : 0;
}

static inline double true_cost(double place) {
  double amount[n_units];
  amounts_of(place, amount);
  return 2 * amount[0] + 5 * amount[1];
}

/* Lets the library measure this rank's items at the given places, and returns the unit costs it reports. */
static inline void learn_costs(int n, const double* place, double* unit_cost) {
  effort_config* config = NULL;
  int32_t solve, flops, unit[n_units];
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "LOAD_METRIC", "flops"));
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  CHECK_OK(effort_metric_define("flops", "1", &flops));
  CHECK_OK(effort_work_unit("cells", &unit[0]));
  CHECK_OK(effort_work_unit("interfaces", &unit[1]));
  for (int step = 0; step < 15; ++step) {
    CHECK_OK(effort_begin(solve));
    for (int i = 0; i < n; ++i) {
      double amount[n_units];
      amounts_of(place[i], amount);
      for (int u = 0; u < n_units; ++u) CHECK_OK(effort_work(unit[u], amount[u]));
      CHECK_OK(effort_metric(flops, true_cost(place[i])));
    }
    CHECK_OK(effort_end(solve));
    CHECK_OK(effort_progress_step());
  }
  effort_hint hint;
  CHECK_OK(effort_hint_latest(&hint));
  CHECK(hint.n_units == n_units);
  for (int u = 0; u < hint.n_units; ++u) unit_cost[strcmp(hint.unit_name[u], "cells") == 0 ? 0 : 1] = hint.unit_cost[u];
  CHECK_NEAR(unit_cost[0], 2, 1e-6);
  CHECK_NEAR(unit_cost[1], 5, 1e-6);
  CHECK_OK(effort_finalize());
}

static inline void weigh(int n, const double* place, double* weight) {
  double unit_cost[n_units] = {-1, -1};
  double* amount = malloc((size_t)(n > 0 ? n : 1) * n_units * sizeof *amount);
  learn_costs(n, place, unit_cost);
  for (int i = 0; i < n; ++i) amounts_of(place[i], amount + (size_t)i * n_units);
  CHECK_OK(effort_weights_items((size_t)n, n_units, amount, unit_cost, weight));
  free(amount);
}

/* max / mean - 1 of the loads of the ranks, from the load that each rank's items add to every rank. */
static inline double imbalance_of(const double* load_of_rank) {
  const int n = ranks_of(MPI_COMM_WORLD);
  double* all = malloc((size_t)n * sizeof *all);
  double largest = 0, sum = 0;
  MPI_Allreduce(load_of_rank, all, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int r = 0; r < n; ++r) {
    largest = all[r] > largest ? all[r] : largest;
    sum += all[r];
  }
  free(all);
  return largest / (sum / n) - 1;
}

#endif
