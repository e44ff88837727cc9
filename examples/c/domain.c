#include "domain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { bins = 512, rounds = 2 };              /* a cut is found to 1 / 512^2 of the particles' extent */
static const double weight_unit = 1.0 / 1e15; /* seconds; whole numbers add up to the same on every rank */
static const double keep_axis = 1.3;          /* an axis is given up when another extent is so much longer */

/* One part that is to be cut in this level. */
typedef struct part {
  int lo, hi;     /* its ranks */
  box space;
  int axis;
  double from;    /* the cut is searched in [from, from + width) */
  double width;
  int64_t below;  /* weight left of `from` */
  int64_t total;
  double cut;
} part;

void domain_init(domain* d, double length, int n_ranks) {
  const size_t n = (size_t)n_ranks;
  d->length = length;
  d->n_ranks = n_ranks;
  d->axis = resize(NULL, n, sizeof *d->axis);
  d->position = resize(NULL, n, sizeof *d->position);
  d->boxes = resize(NULL, n, sizeof *d->boxes);
  for (size_t m = 0; m < n; ++m) {
    d->axis[m] = -1;
    d->position[m] = 0.0;
    d->boxes[m] = (box){{0.0, 0.0, 0.0}, {length, length, length}};
  }
}

void domain_free(domain* d) {
  free(d->axis);
  free(d->position);
  free(d->boxes);
}

int domain_owner(const domain* d, const double x[3]) {
  int lo = 0;
  int hi = d->n_ranks;
  while (hi - lo > 1) {
    const int m = lo + (hi - lo) / 2;
    if (x[d->axis[m]] < d->position[m]) {
      hi = m;
    } else {
      lo = m;
    }
  }
  return lo;
}

/* Where the particles of every part lie: extent[k] = lowest, then minus highest coordinates. */
static void find_extents(double (*extent)[6], int n_parts, const particle_list* list, const int* member,
                         MPI_Comm comm) {
  for (int k = 0; k < n_parts; ++k) {
    for (int e = 0; e < 6; ++e) extent[k][e] = HUGE_VAL;
  }
  for (size_t i = 0; i < list->n; ++i) {
    if (member[i] < 0) continue;
    double* e = extent[member[i]];
    for (int d = 0; d < 3; ++d) {
      e[d] = fmin(e[d], list->at[i].x[d]);
      e[d + 3] = fmin(e[d + 3], -list->at[i].x[d]);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, extent, 6 * n_parts, MPI_DOUBLE, MPI_MIN, comm);
}

/* Cuts across the longest extent, but stays with the last axis while that is nearly as long: fewer particles move. */
static void choose_axis(part* p, const double extent[6], int last) {
  double lo[3], side[3];
  int longest = 0;
  for (int d = 0; d < 3; ++d) {
    const int empty = extent[d] > -extent[d + 3];
    lo[d] = empty ? p->space.lo[d] : extent[d];
    side[d] = (empty ? p->space.hi[d] : -extent[d + 3]) - lo[d];
    if (side[d] > side[longest]) longest = d;
  }
  p->axis = last >= 0 && side[longest] < keep_axis * side[last] ? last : longest;
  p->from = lo[p->axis];
  p->width = side[p->axis] * (1.0 + 1e-9) + 1e-12; /* the highest particle is inside */
  p->below = 0;
}

/* The weight in each bin of each part. */
static void fill_histogram(int64_t* histogram, const part* parts, int n_parts, const particle_list* list,
                           const int* member, const int64_t* weight, MPI_Comm comm) {
  memset(histogram, 0, (size_t)n_parts * bins * sizeof *histogram);
  for (size_t i = 0; i < list->n; ++i) {
    if (member[i] < 0) continue;
    const part* p = &parts[member[i]];
    const double where = (list->at[i].x[p->axis] - p->from) / p->width * bins;
    if (where >= 0.0 && where < bins) histogram[(size_t)member[i] * bins + (size_t)where] += weight[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, histogram, n_parts * bins, MPI_INT64_T, MPI_SUM, comm);
}

/* Narrows the search to the bin in which the weight of the lower ranks is reached. */
static void narrow(part* p, const int64_t* histogram, int round) {
  if (round == 0) {
    p->total = 0;
    for (int b = 0; b < bins; ++b) p->total += histogram[b];
  }
  const int below_cut = (p->hi - p->lo) / 2;
  const double share = (double)below_cut / (p->hi - p->lo);
  const double wanted = (p->total > 0 ? (double)p->total : 1.0) * share;
  int b = 0;
  int64_t sum = p->below;
  while (b < bins - 1 && (double)(sum + histogram[b]) < wanted) sum += histogram[b++];
  const double left = wanted - (double)sum;
  const double right = (double)(sum + histogram[b]) - wanted;
  p->below = sum;
  p->from += p->width * b / bins;
  p->width /= bins;
  p->cut = p->from + (left <= right ? 0.0 : p->width);
  if (p->total == 0) p->cut = 0.5 * (p->space.lo[p->axis] + p->space.hi[p->axis]);
}

/* Files the cut and puts its two sides into `next` where they are to be cut again; child[0..1] are their places there. */
static int divide(domain* d, const part* p, part* next, int n_next, int child[2]) {
  const int m = p->lo + (p->hi - p->lo) / 2;
  d->axis[m] = p->axis;
  d->position[m] = p->cut;
  for (int side = 0; side < 2; ++side) {
    part half = {.lo = side ? m : p->lo, .hi = side ? p->hi : m, .space = p->space};
    if (side) {
      half.space.lo[p->axis] = p->cut;
    } else {
      half.space.hi[p->axis] = p->cut;
    }
    child[side] = -1;
    if (half.hi - half.lo > 1) {
      child[side] = n_next;
      next[n_next++] = half;
    } else {
      d->boxes[half.lo] = half.space;
    }
  }
  return n_next;
}

/* Cuts all parts of one level; returns the number of parts left in `next`. */
static int cut_level(domain* d, part* parts, int n_parts, part* next, const particle_list* list, int* member,
                     const int64_t* weight, MPI_Comm comm) {
  double(*extent)[6] = resize(NULL, (size_t)n_parts, sizeof *extent);
  int64_t* histogram = resize(NULL, (size_t)n_parts * bins, sizeof *histogram);
  int(*child)[2] = resize(NULL, (size_t)n_parts, sizeof *child);
  find_extents(extent, n_parts, list, member, comm);
  for (int k = 0; k < n_parts; ++k) {
    choose_axis(&parts[k], extent[k], d->axis[parts[k].lo + (parts[k].hi - parts[k].lo) / 2]);
  }
  for (int round = 0; round < rounds; ++round) {
    fill_histogram(histogram, parts, n_parts, list, member, weight, comm);
    for (int k = 0; k < n_parts; ++k) narrow(&parts[k], &histogram[(size_t)k * bins], round);
  }
  int n_next = 0;
  for (int k = 0; k < n_parts; ++k) n_next = divide(d, &parts[k], next, n_next, child[k]);
  for (size_t i = 0; i < list->n; ++i) {
    if (member[i] < 0) continue;
    const part* p = &parts[member[i]];
    member[i] = child[member[i]][list->at[i].x[p->axis] >= p->cut];
  }
  free(extent);
  free(histogram);
  free(child);
  return n_next;
}

void domain_bisect(domain* d, const particle_list* list, const double* weight, MPI_Comm comm) {
  const double length = d->length;
  part* parts = resize(NULL, (size_t)d->n_ranks, sizeof *parts);
  part* next = resize(NULL, (size_t)d->n_ranks, sizeof *next);
  int* member = resize(NULL, list->n, sizeof *member);
  int64_t* whole = resize(NULL, list->n, sizeof *whole);
  int n_parts = d->n_ranks > 1;
  parts[0] = (part){.lo = 0, .hi = d->n_ranks, .space = {{0.0, 0.0, 0.0}, {length, length, length}}};
  for (size_t i = 0; i < list->n; ++i) {
    member[i] = 0;
    whole[i] = (int64_t)(weight[i] / weight_unit) + 1;
  }
  while (n_parts > 0) {
    n_parts = cut_level(d, parts, n_parts, next, list, member, whole, comm);
    part* swap = parts;
    parts = next;
    next = swap;
  }
  free(parts);
  free(next);
  free(member);
  free(whole);
}
