#include "forces.h"

const double cutoff = 2.5;

/* A particle in the solid has 80 neighbours. To reach 512, the energy would have to be so high that the final checks
 * fail. */
enum { rows = 9, most_neighbours = 512 };

/* Nine runs of three cells each, along x, hold all particles within the cutoff of a cell. */
typedef struct surroundings {
  size_t begin[rows], end[rows];
} surroundings;

static void find_surroundings(const cells* c, int64_t x, int64_t y, int64_t z, surroundings* s) {
  for (int row = 0; row < rows; ++row) {
    const int64_t line = (z + row / 3 - 1) * c->count[1] + (y + row % 3 - 1);
    const int64_t middle = line * c->count[0] + x;
    s->begin[row] = c->start[middle - 1];
    s->end[row] = c->start[middle + 2];
  }
}

/* Places of the particles within the cutoff of k, itself excluded; returns their number. */
static size_t find_neighbours(const cells* c, const surroundings* s, size_t k, size_t* near, double* near_r2) {
  const double x = c->x[k];
  const double y = c->y[k];
  const double z = c->z[k];
  const double cutoff2 = cutoff * cutoff;
  size_t n = 0;
  for (int row = 0; row < rows; ++row) {
    for (size_t j = s->begin[row]; j < s->end[row]; ++j) {
      const double dx = x - c->x[j];
      const double dy = y - c->y[j];
      const double dz = z - c->z[j];
      const double r2 = dx * dx + dy * dy + dz * dz;
      near[n] = j; /* kept only if n advances, so no branch is mispredicted */
      near_r2[n] = r2;
      n += (size_t)((r2 < cutoff2) & (j != k) & (n < most_neighbours));
    }
  }
  return n;
}

static void sum_force(const cells* c, size_t k, const size_t* near, const double* near_r2, size_t n, particle* p) {
  const double inverse_cutoff6 = 1.0 / (cutoff * cutoff * cutoff * cutoff * cutoff * cutoff);
  const double shift = 4.0 * inverse_cutoff6 * (inverse_cutoff6 - 1.0);
  double f[3] = {0.0, 0.0, 0.0};
  double energy = 0.0;
  for (size_t m = 0; m < n; ++m) {
    const size_t j = near[m];
    const double r2 = 1.0 / near_r2[m];
    const double r6 = r2 * r2 * r2;
    const double over_r = 48.0 * r2 * r6 * (r6 - 0.5);
    f[0] += over_r * (c->x[k] - c->x[j]);
    f[1] += over_r * (c->y[k] - c->y[j]);
    f[2] += over_r * (c->z[k] - c->z[j]);
    energy += 4.0 * r6 * (r6 - 1.0) - shift;
  }
  for (int d = 0; d < 3; ++d) p->f[d] = f[d];
  p->potential = 0.5 * energy;
  p->neighbours = (int64_t)n;
}

void forces_compute(const cells* c, particle_list* list) {
  size_t near[most_neighbours + 1];
  double near_r2[most_neighbours + 1];
  for (int64_t z = 1; z < c->count[2] - 1; ++z) {
    for (int64_t y = 1; y < c->count[1] - 1; ++y) {
      for (int64_t x = 1; x < c->count[0] - 1; ++x) {
        const size_t cell = (size_t)((z * c->count[1] + y) * c->count[0] + x);
        if (c->start[cell] == c->start[cell + 1]) continue;
        surroundings s;
        find_surroundings(c, x, y, z, &s);
        for (size_t k = c->start[cell]; k < c->start[cell + 1]; ++k) {
          if (c->index[k] >= list->n) continue;
          const size_t n = find_neighbours(c, &s, k, near, near_r2);
          sum_force(c, k, near, near_r2, n, &list->at[c->index[k]]);
        }
      }
    }
  }
}
