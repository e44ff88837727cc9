#include "domain.h"

#include <stdlib.h>
#include <string.h>

enum { bins = 512 };                          /* along each axis of a part; inside a bin the cut is interpolated */
static const double weight_unit = 1.0 / 1e15; /* seconds; whole numbers add up to the same on every rank */
static const double keep_axis = 1.3;          /* another axis is chosen when its extent is longer by this factor */

/* A part that is cut at this level. */
typedef struct part {
  int lo, hi; /* its ranks */
  box space;
  int axis;
  double cut;
} part;

/* The weight of a part as a histogram along each axis. */
typedef struct profile {
  int64_t weight[3][bins];
} profile;

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

static double bin_width(const part* p, int d) { return (p->space.hi[d] - p->space.lo[d]) / bins; }

static size_t bin_of(const part* p, int d, double x) {
  const double b = (x - p->space.lo[d]) / bin_width(p, d);
  return b <= 0.0 ? 0 : b >= bins ? bins - 1 : (size_t)b;
}

/* One reduction for all parts of a level and all axes, because the cost of a rebalance is mostly its messages. */
static void find_profiles(const domain* d, profile* profiles, const part* parts, int n_parts, const particle_list* list,
                          const int* member, const int64_t* weight, MPI_Comm comm) {
  memset(profiles, 0, (size_t)n_parts * sizeof *profiles);
  for (size_t i = 0; i < list->n; ++i) {
    if (member[i] < 0) continue;
    const part* p = &parts[member[i]];
    for (int a = 0; a < 3; ++a) profiles[member[i]].weight[a][bin_of(p, a, list->at[i].x[a])] += weight[i];
  }
  effort_begin(d->reduction);
  MPI_Allreduce(MPI_IN_PLACE, profiles, n_parts * 3 * bins, MPI_INT64_T, MPI_SUM, comm);
  effort_end(d->reduction);
}

/* Length of the smallest interval of bins that holds all the weight along one axis. */
static double extent(const part* p, int d, const int64_t* weight) {
  int lo = 0;
  int hi = bins;
  while (lo < hi && weight[lo] == 0) ++lo;
  while (hi > lo && weight[hi - 1] == 0) --hi;
  return (hi - lo) * bin_width(p, d);
}

/* Cuts across the longest extent, but keeps the last axis while it is nearly as long, so that fewer particles move. */
static int choose_axis(const part* p, const profile* of, int last) {
  double length[3];
  int longest = 0;
  for (int d = 0; d < 3; ++d) {
    length[d] = extent(p, d, of->weight[d]);
    if (length[d] > length[longest]) longest = d;
  }
  return last >= 0 && length[longest] < keep_axis * length[last] ? last : longest;
}

/* The coordinate where the lower ranks' share of the weight ends. If it falls into empty space, the middle of that
 * space. */
static double find_cut(const part* p, const int64_t* weight) {
  int64_t total = 0;
  for (int b = 0; b < bins; ++b) total += weight[b];
  const double wanted = (double)total * ((p->hi - p->lo) / 2) / (p->hi - p->lo);
  int64_t below = 0;
  int b = 0;
  while (b < bins - 1 && (double)(below + weight[b]) < wanted) below += weight[b++];
  const double inside = total > 0 ? (wanted - (double)below) / (double)weight[b] : bins / 2;
  return p->space.lo[p->axis] + (b + inside) * bin_width(p, p->axis);
}

/* Records the cut and appends its two sides to `next` if they must be cut again; child[0..1] are their places
 * there, or -1. */
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
  profile* profiles = resize(NULL, (size_t)n_parts, sizeof *profiles);
  int(*child)[2] = resize(NULL, (size_t)n_parts, sizeof *child);
  find_profiles(d, profiles, parts, n_parts, list, member, weight, comm);
  for (int k = 0; k < n_parts; ++k) {
    part* p = &parts[k];
    p->axis = choose_axis(p, &profiles[k], d->axis[p->lo + (p->hi - p->lo) / 2]);
    p->cut = find_cut(p, profiles[k].weight[p->axis]);
  }
  int n_next = 0;
  for (int k = 0; k < n_parts; ++k) n_next = divide(d, &parts[k], next, n_next, child[k]);
  for (size_t i = 0; i < list->n; ++i) {
    if (member[i] < 0) continue;
    const part* p = &parts[member[i]];
    member[i] = child[member[i]][list->at[i].x[p->axis] >= p->cut];
  }
  free(profiles);
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
