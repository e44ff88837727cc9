#include "particles.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;
static const double lattice_constant = 1.55; /* fcc, close to the minimum of the energy */
static const double temperature = 0.2;       /* at the start; half of it becomes potential energy */
static const double box_in_radii = 5.6;
static const double drift_speed = 1.9; /* along each axis */

/* Centres in units of the box, directions of the drift.  The droplets share their velocity along x and keep 2.4
 * radii of distance there, so they never meet. */
static const double centre[2][3] = {{0.28, 0.35, 0.40}, {0.72, 0.65, 0.60}};
static const double direction[2][3] = {{1.0, 1.0, 1.0}, {1.0, -1.0, -1.0}};

/* Rows of a rotation matrix for each droplet.  In a lattice along the axes, a moving cut would pass whole planes of
 * thousands of particles at once. */
static const double rotation[2][3][3] = {
    {{2.0 / 3, -1.0 / 3, 2.0 / 3}, {2.0 / 3, 2.0 / 3, -1.0 / 3}, {-1.0 / 3, 2.0 / 3, 2.0 / 3}},
    {{6.0 / 7, 2.0 / 7, 3.0 / 7}, {3.0 / 7, -6.0 / 7, -2.0 / 7}, {2.0 / 7, 3.0 / 7, -6.0 / 7}}};

void* resize(void* p, size_t count, size_t size) {
  void* out = realloc(p, (count ? count : 1) * size);
  if (out == NULL) {
    fprintf(stderr, "particles: out of memory (%zu x %zu bytes)\n", count, size);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  return out;
}

void particles_reserve(particle_list* list, size_t n) {
  if (list->at != NULL && n <= list->capacity) return;
  list->capacity = n + n / 2;
  list->at = resize(list->at, list->capacity, sizeof *list->at);
}

void ghosts_reserve(ghost_list* list, size_t n) {
  if (list->at != NULL && n <= list->capacity) return;
  list->capacity = n + n / 2;
  list->at = resize(list->at, list->capacity, sizeof *list->at);
}

/* Radius of one droplet, which has n / 2 particles. */
static double droplet_radius(int64_t n) {
  const double volume = 0.5 * (double)n * pow(lattice_constant, 3) / 4.0;
  return cbrt(3.0 * volume / (4.0 * pi));
}

double droplets_box(int64_t n) { return box_in_radii * droplet_radius(n); }

/* A number in [0, 1) that depends only on the arguments (the finaliser of splitmix64). */
static double uniform(uint64_t seed, uint64_t id, uint64_t draw) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u + id * 0xd1b54a32d192ed03u + draw * 0x8cb92ba72f3d8dd7u + 1u;
  for (int round = 0; round < 2; ++round) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
  }
  return (double)(z >> 11) / 9007199254740992.0;
}

static double gaussian(uint64_t seed, uint64_t id, uint64_t draw) {
  const double r = sqrt(-2.0 * log(1.0 - uniform(seed, id, 2 * draw)));
  return r * cos(2.0 * pi * uniform(seed, id, 2 * draw + 1));
}

typedef struct site {
  double r2;
  double x[3];
  size_t order;
} site;

static int nearer(const void* pa, const void* pb) {
  const site* a = pa;
  const site* b = pb;
  if (a->r2 != b->r2) return a->r2 < b->r2 ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

/* The n lattice sites nearest to the origin, innermost first; the caller frees them. */
static site* sphere_of_sites(int64_t n) {
  static const double basis[4][3] = {{0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
  const int reach = (int)ceil(cbrt(3.0 * (double)n / (16.0 * pi))) + 2;
  const size_t side = (size_t)(2 * reach + 1);
  site* sites = resize(NULL, 4 * side * side * side, sizeof *sites);
  size_t count = 0;
  for (int i = -reach; i <= reach; ++i) {
    for (int j = -reach; j <= reach; ++j) {
      for (int k = -reach; k <= reach; ++k) {
        for (int b = 0; b < 4; ++b, ++count) {
          site* s = &sites[count];
          s->x[0] = (i + basis[b][0]) * lattice_constant;
          s->x[1] = (j + basis[b][1]) * lattice_constant;
          s->x[2] = (k + basis[b][2]) * lattice_constant;
          s->r2 = s->x[0] * s->x[0] + s->x[1] * s->x[1] + s->x[2] * s->x[2];
          s->order = count;
        }
      }
    }
  }
  qsort(sites, count, sizeof *sites, nearer);
  return sites;
}

static particle make_one(const site* s, int droplet, int64_t id, uint64_t seed, double length) {
  particle p = {.id = id};
  for (int d = 0; d < 3; ++d) {
    const double* row = rotation[droplet][d];
    p.x[d] = centre[droplet][d] * length + row[0] * s->x[0] + row[1] * s->x[1] + row[2] * s->x[2];
    p.v[d] = drift_speed * direction[droplet][d] + sqrt(temperature) * gaussian(seed, (uint64_t)id, (uint64_t)d);
  }
  return p;
}

void droplets_make(particle_list* list, int64_t n, uint64_t seed, int rank, int n_ranks) {
  const int64_t in_first = n / 2;
  const double length = droplets_box(n);
  site* sites = sphere_of_sites(n - in_first);
  particles_reserve(list, list->n + (size_t)(n / n_ranks + 1));
  for (int64_t id = rank; id < n; id += n_ranks) {
    const int droplet = id >= in_first;
    list->at[list->n++] = make_one(&sites[droplet ? id - in_first : id], droplet, id, seed, length);
  }
  free(sites);
}
