/* Mode hints: effort says when to rebalance and predicts each rank's load; the simulation uses its own rebalancer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "effort_calls.h"

/* The fitted cost of a particle and of a pair; without a fit, every pair costs the same. */
static cost_model model_of(const effort_hint* hint) {
  cost_model m = {0.0, 0.0};
  for (int u = 0; u < hint->n_units; ++u) {
    if (strcmp(hint->unit_name[u], "particles") == 0) m.particle = hint->unit_cost[u];
    if (strcmp(hint->unit_name[u], "pairs") == 0) m.pair = hint->unit_cost[u];
  }
  return m.particle >= 0.0 && m.pair > 0.0 ? m : by_neighbours;
}

/* Loads of this rank as predicted by the unit costs of the previous window. */
static struct {
  double *particles, *pairs; /* of each step */
  cost_model costs;          /* of the previous window; negative: unknown */
  double* error;             /* relative, one per window */
  int n_errors;
} forecast;

void hints_note_work(const simulation* s, double particles, double pairs) {
  if (s->measure.n_steps < 1) return;
  forecast.particles[s->measure.n_steps - 1] = particles;
  forecast.pairs[s->measure.n_steps - 1] = pairs;
}

static void compare_costs(const effort_hint* hint) {
  const double load = hint->load[hint->rank];
  if (forecast.costs.pair > 0.0) {
    double modelled = 0.0;
    for (int64_t k = hint->window_first; k <= hint->window_last; ++k)
      modelled += forecast.costs.particle * forecast.particles[k] + forecast.costs.pair * forecast.pairs[k];
    modelled /= (double)(hint->window_last - hint->window_first + 1);
    forecast.error[forecast.n_errors++] = load > 0.0 ? fabs(modelled / load - 1.0) : 1.0;
  }
  forecast.costs.pair = -1.0;
  for (int u = 0; u < hint->n_units; ++u) {
    if (strcmp(hint->unit_name[u], "particles") == 0) forecast.costs.particle = hint->unit_cost[u];
    if (strcmp(hint->unit_name[u], "pairs") == 0) forecast.costs.pair = hint->unit_cost[u];
  }
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The median over ranks and windows. */
static void report_costs(const simulation* s) {
  const int n = forecast.n_errors; /* the same on all ranks, because all get the same hints */
  double* all = calloc((size_t)(n * s->n_ranks) + 1, sizeof *all);
  MPI_Gather(forecast.error, n, MPI_DOUBLE, all, n, MPI_DOUBLE, 0, s->comm);
  qsort(all, (size_t)(n * s->n_ranks), sizeof *all, ascending);
  if (s->rank == 0 && n > 0)
    printf("unit costs predicted a rank's load of the next window within %.1f %% (median)\n",
           100.0 * all[n * s->n_ranks / 2]);
  free(all);
  free(forecast.particles);
  free(forecast.pairs);
  free(forecast.error);
}

static int on_hint(const effort_hint* hint, void* user) {
  simulation* s = user;
  compare_costs(hint);
  if (s->opt.balance != BALANCE_HINTS || !hint->rebalance) return 0;
  balance_now(s, hint->predicted[hint->rank], model_of(hint));
  return 1;
}

/* If effort fails, print why and go on: its later calls return an error and do nothing. */
static void check(effort_status status, const char* what, int rank) {
  if (status != EFFORT_OK && rank == 0) fprintf(stderr, "particles: %s: %s\n", what, effort_last_error());
}

void hints_start(simulation* s) {
  const size_t steps = (size_t)s->opt.steps;
  forecast.particles = calloc(steps, sizeof(double));
  forecast.pairs = calloc(steps, sizeof(double));
  forecast.error = calloc(steps, sizeof(double));
  forecast.costs.pair = -1.0;
  effort_config* config = NULL;
  effort_config_new(&config);
  effort_config_set(config, "LOAD_METRIC", "cpu_time"); /* ranks may share cores */
  check(effort_init_mpi(s->comm, config), "effort_init_mpi", s->rank);
  effort_config_free(config);
  check(effort_work_unit("particles", &s->unit_particles), "effort_work_unit", s->rank);
  check(effort_work_unit("pairs", &s->unit_pairs), "effort_work_unit", s->rank);
  check(effort_on_rebalance(on_hint, s), "effort_on_rebalance", s->rank);
}

void hints_stop(const simulation* s) {
  report_costs(s);
  check(effort_finalize(), "effort_finalize", s->rank);
}
