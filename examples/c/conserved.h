/* The conserved quantities, and two fingerprints for comparing two runs. */
#ifndef CONSERVED_H
#define CONSERVED_H

#include <mpi.h>

#include "particles.h"

typedef struct conserved {
  int64_t particles;
  double energy; /* kinetic and potential */
  double momentum[3];
  double momentum_scale; /* sum of the particles' absolute momenta */
} conserved;

/* Sums over all ranks, in whole numbers of 2^-36: the same result for every order and division.  Collective. */
conserved conserved_sum(const particle_list* list, MPI_Comm comm);

typedef struct fingerprint {
  double checksum; /* sum over the particles of (|x| + |y| + |z|) (id + 1) / n, to 2^-30 each */
  uint64_t bits;   /* a hash of every bit of every position */
} fingerprint;

/* Collective. */
fingerprint fingerprint_take(const particle_list* list, int64_t n, MPI_Comm comm);

#endif
