/* Mode hints: effort says when, and what each rank will cost; the rebalancer is the simulation's own. */
#include <stdio.h>
#include <string.h>

#include "balance.h"
#include "effort_calls.h"

/* What a particle and a pair cost, where effort could fit it; else every pair costs the same. */
static cost_model model_of(const effort_hint* hint) {
  cost_model m = {0.0, 0.0};
  for (int u = 0; u < hint->n_units; ++u) {
    if (strcmp(hint->unit_name[u], "particles") == 0) m.particle = hint->unit_cost[u];
    if (strcmp(hint->unit_name[u], "pairs") == 0) m.pair = hint->unit_cost[u];
  }
  return m.particle >= 0.0 && m.pair > 0.0 ? m : by_neighbours;
}

static int on_hint(const effort_hint* hint, void* user) {
  simulation* s = user;
  if (s->opt.balance != BALANCE_HINTS || !hint->rebalance) return 0;
  balance_now(s, hint->predicted[hint->rank], model_of(hint));
  return 1;
}

/* A run goes on without effort: it says why, and the calls that follow return an error and do nothing. */
static void check(effort_status status, const char* what, int rank) {
  if (status != EFFORT_OK && rank == 0) fprintf(stderr, "particles: %s: %s\n", what, effort_last_error());
}

void hints_start(simulation* s) {
  effort_config* config = NULL;
  effort_config_new(&config);
  effort_config_set(config, "LOAD_METRIC", "cpu_time"); /* ranks may share cores */
  check(effort_init_mpi(s->comm, config), "effort_init_mpi", s->rank);
  effort_config_free(config);
  check(effort_work_unit("particles", &s->unit_particles), "effort_work_unit", s->rank);
  check(effort_work_unit("pairs", &s->unit_pairs), "effort_work_unit", s->rank);
  check(effort_on_rebalance(on_hint, s), "effort_on_rebalance", s->rank);
}

void hints_stop(const simulation* s) { check(effort_finalize(), "effort_finalize", s->rank); }
