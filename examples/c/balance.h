/* The rebalancer: recursive coordinate bisection by a weight for each particle.  It does not need effort. */
#ifndef BALANCE_H
#define BALANCE_H

#include "simulation.h"

/* Cost of one particle and of one pair in its force sum, in any unit. A rank's cost is divided by these. */
typedef struct cost_model {
  double particle, pair;
} cost_model;

/* Divides by the number of neighbours. Used until unit costs are known. */
extern const cost_model by_neighbours;

/* The first division, before any cost was measured. Every pair costs the same. */
void balance_start(simulation* s);

/* Moves the boxes and the particles.  `seconds` is the cost of a step on this rank; the model divides it over the
 * rank's particles.  Collective. */
void balance_now(simulation* s, double seconds, cost_model model);

/* Mode own: rebalances every `interval` steps by the measured cost of the last steps.  Collective. */
void balance_own(simulation* s);

#endif
