/* Particles, and the two droplets that they form at the start.  Lennard-Jones units: mass, length and energy are 1. */
#ifndef PARTICLES_H
#define PARTICLES_H

#include <stddef.h>
#include <stdint.h>

typedef struct particle {
  double x[3];        /* position in [0, length) */
  double v[3];        /* velocity */
  double f[3];        /* force at x */
  double potential;   /* half the energy of its pairs */
  int64_t id;         /* 0 .. number of particles - 1 */
  int64_t neighbours; /* number of pairs in its force sum */
} particle;

typedef struct particle_list {
  particle* at;
  size_t n, capacity;
} particle_list;

/* A copy of another rank's particle, or of one of this rank's across the periodic border, already shifted. */
typedef struct ghost {
  double x[3];
  int64_t id;
} ghost;

typedef struct ghost_list {
  ghost* at;
  size_t n, capacity;
} ghost_list;

/* realloc that ends the run if memory is exhausted. */
void* resize(void* p, size_t count, size_t size);

/* Makes room for n particles or ghosts; the contents stay. */
void particles_reserve(particle_list* list, size_t n);
void ghosts_reserve(ghost_list* list, size_t n);

/* Edge of the periodic cube for n particles: the droplets fill a twentieth of it. */
double droplets_box(int64_t n);

/* Appends the particles with id % n_ranks == rank of two cold, solid droplets that drift in different directions.
 * The initial state of a particle depends only on its id and the seed, not on the ranks. */
void droplets_make(particle_list* list, int64_t n, uint64_t seed, int rank, int n_ranks);

#endif
