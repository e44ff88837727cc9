#include "balance.h"

#include <stdlib.h>

#include "forces.h"

enum { most_steps_of_history = 10 }; /* older costs describe particles that have since moved */

const cost_model by_neighbours = {1.0, 1.0};

/* Moves the boxes, and the particles to their new ranks. */
static void divide_space(simulation* s, const double* weight) {
  domain_bisect(&s->domain, &s->particles, weight, s->comm);
  exchange_plan(&s->exchange, &s->domain);
  effort_begin(s->measure.region[SECTION_MIGRATE]);
  exchange_migrate(&s->exchange, &s->domain, &s->particles, 1);
  effort_end(s->measure.region[SECTION_MIGRATE]);
}

void balance_start(simulation* s) {
  const double seconds_per_pair = 1e-8; /* any value will do: only ratios matter here */
  for (int round = 0; round < 2; ++round) {
    double* weight = resize(NULL, s->particles.n, sizeof *weight);
    for (size_t i = 0; i < s->particles.n; ++i) {
      weight[i] = seconds_per_pair * (double)(1 + s->particles.at[i].neighbours); /* none counted in round 0 */
    }
    /* The second division is like later ones, so effort learns their price from it. */
    if (round == 1) effort_rebalance_begin();
    divide_space(s, weight);
    if (round == 1) effort_rebalance_end();
    exchange_ghosts(&s->exchange, &s->domain, &s->particles, &s->ghosts);
    cells_fill(&s->cells, &s->domain.boxes[s->rank], &s->particles, &s->ghosts);
    forces_compute(&s->cells, &s->particles);
    free(weight);
  }
}

/* The weight of every particle: its part of the rank's seconds. */
static double* weigh(const particle_list* list, double seconds, cost_model model) {
  double* weight = resize(NULL, list->n, sizeof *weight);
  double sum = 0.0;
  for (size_t i = 0; i < list->n; ++i) {
    weight[i] = model.particle + model.pair * (double)list->at[i].neighbours;
    sum += weight[i];
  }
  for (size_t i = 0; i < list->n; ++i) {
    weight[i] = sum > 0.0 ? weight[i] * seconds / sum : seconds / (double)list->n;
  }
  return weight;
}

void balance_now(simulation* s, double seconds, cost_model model) {
  measure_begin(&s->measure, SECTION_REBALANCE);
  double* weight = weigh(&s->particles, seconds, model);
  divide_space(s, weight);
  free(weight);
  ++s->rebalances;
  s->last_rebalance = s->measure.n_steps;
  measure_end(&s->measure, SECTION_REBALANCE);
}

void balance_own(simulation* s) {
  const int since = s->measure.n_steps - s->last_rebalance;
  if (since < s->opt.interval || s->measure.n_steps == s->opt.steps) return;
  const int steps = since < most_steps_of_history ? since : most_steps_of_history;
  effort_rebalance_begin();
  balance_now(s, measure_recent(&s->measure, steps), by_neighbours);
  effort_rebalance_end();
}
