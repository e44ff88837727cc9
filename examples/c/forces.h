/* The Lennard-Jones potential, cut off and shifted to zero there. */
#ifndef FORCES_H
#define FORCES_H

#include "cells.h"
#include "particles.h"

extern const double cutoff;

/* Sets the force, potential energy and number of neighbours of every particle in the list that the cells were filled
 * from.  Each pair is computed on both sides, so no force has to be sent and every sum has a fixed order. */
void forces_compute(const cells* c, particle_list* list);

#endif
