#include "conserved.h"

#include <math.h>
#include <string.h>

conserved conserved_sum(const particle_list* list, MPI_Comm comm) {
  const double unit = 68719476736.0; /* 2^36 */
  int64_t sum[6] = {0};
  for (size_t i = 0; i < list->n; ++i) {
    const particle* p = &list->at[i];
    const double v2 = p->v[0] * p->v[0] + p->v[1] * p->v[1] + p->v[2] * p->v[2];
    sum[0] += 1;
    sum[1] += llrint((0.5 * v2 + p->potential) * unit);
    for (int d = 0; d < 3; ++d) sum[2 + d] += llrint(p->v[d] * unit);
    sum[5] += llrint(sqrt(v2) * unit);
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 6, MPI_INT64_T, MPI_SUM, comm);
  return (conserved){.particles = sum[0],
                     .energy = (double)sum[1] / unit,
                     .momentum = {(double)sum[2] / unit, (double)sum[3] / unit, (double)sum[4] / unit},
                     .momentum_scale = (double)sum[5] / unit};
}

static uint64_t mix(uint64_t hash, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

fingerprint fingerprint_take(const particle_list* list, int64_t n, MPI_Comm comm) {
  const double unit = 1073741824.0; /* 2^30 */
  int64_t sum = 0;
  uint64_t bits = 0;
  for (size_t i = 0; i < list->n; ++i) {
    const particle* p = &list->at[i];
    const double weight = (double)(p->id + 1) / (double)n;
    sum += llrint((fabs(p->x[0]) + fabs(p->x[1]) + fabs(p->x[2])) * weight * unit);
    bits += mix(mix(mix((uint64_t)p->id + 1, p->x[0]), p->x[1]), p->x[2]);
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, &bits, 1, MPI_UINT64_T, MPI_SUM, comm);
  return (fingerprint){(double)sum / unit, bits};
}
