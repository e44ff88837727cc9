/* The division of the box among the ranks by recursive coordinate bisection. */
#ifndef DOMAIN_H
#define DOMAIN_H

#include <mpi.h>

#include "effort_calls.h"
#include "particles.h"

typedef struct box {
  double lo[3], hi[3];
} box;

/* Ranks lo .. hi-1 share a part of the box; the cut number m = lo + (hi - lo) / 2 divides it between the ranks below
 * m and the others.  Every m from 1 to n_ranks - 1 belongs to exactly one cut, so that two arrays hold the tree. */
typedef struct domain {
  double length; /* edge of the periodic cube */
  int n_ranks;
  int* axis;                  /* [n_ranks] axis of cut m, -1 before the first bisection */
  double* position;           /* [n_ranks] place of cut m */
  box* boxes;                 /* [n_ranks] */
  effort_region_id reduction; /* region around the bisection's messages, which do not count towards the price */
} domain;

void domain_init(domain* d, double length, int n_ranks);
void domain_free(domain* d);

/* The rank whose box holds x. */
int domain_owner(const domain* d, const double x[3]);

/* Moves the cuts so that all ranks get the same share of the weights: weight[i] (seconds per step, >= 0) belongs to
 * list->at[i].  Collective; the particles stay where they are.  One reduction of 12 KiB per part and level of the
 * tree. */
void domain_bisect(domain* d, const particle_list* list, const double* weight, MPI_Comm comm);

#endif
