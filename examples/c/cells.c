#include "cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cells_init(cells* c, double length, double cutoff) {
  *c = (cells){.inverse_size = floor(length / cutoff) / length};
}

void cells_free(cells* c) {
  free(c->start);
  free(c->filled);
  free(c->x);
  free(c->y);
  free(c->z);
  free(c->id);
  free(c->index);
  free(c->cell);
}

static void reserve(cells* c, size_t n) {
  c->n = n;
  if (n <= c->capacity) return;
  c->capacity = n + n / 2;
  c->x = resize(c->x, c->capacity, sizeof *c->x);
  c->y = resize(c->y, c->capacity, sizeof *c->y);
  c->z = resize(c->z, c->capacity, sizeof *c->z);
  c->id = resize(c->id, c->capacity, sizeof *c->id);
  c->index = resize(c->index, c->capacity, sizeof *c->index);
  c->cell = resize(c->cell, c->capacity, sizeof *c->cell);
}

static void cover(cells* c, const box* own) {
  for (int d = 0; d < 3; ++d) {
    c->first[d] = (int64_t)floor(own->lo[d] * c->inverse_size) - 1;
    c->count[d] = (int64_t)floor(own->hi[d] * c->inverse_size) + 2 - c->first[d];
  }
  c->n_cells = (size_t)(c->count[0] * c->count[1] * c->count[2]);
  if (c->n_cells > c->n_cells_capacity) {
    c->n_cells_capacity = c->n_cells + c->n_cells / 2;
    c->start = resize(c->start, c->n_cells_capacity + 1, sizeof *c->start);
    c->filled = resize(c->filled, c->n_cells_capacity, sizeof *c->filled);
  }
}

static size_t cell_of(const cells* c, const double x[3]) {
  int64_t at[3];
  for (int d = 0; d < 3; ++d) {
    at[d] = (int64_t)floor(x[d] * c->inverse_size) - c->first[d];
    if (at[d] < 0) at[d] = 0; /* a ghost exactly one cutoff away, after rounding */
    if (at[d] >= c->count[d]) at[d] = c->count[d] - 1;
  }
  return (size_t)((at[2] * c->count[1] + at[1]) * c->count[0] + at[0]);
}

/* Puts one particle into the next free place of its cell, in the order of the ids. */
static void insert(cells* c, size_t begin, size_t end, const double x[3], int64_t id, size_t index) {
  size_t k = end;
  while (k > begin && c->id[k - 1] > id) {
    c->x[k] = c->x[k - 1];
    c->y[k] = c->y[k - 1];
    c->z[k] = c->z[k - 1];
    c->id[k] = c->id[k - 1];
    c->index[k] = c->index[k - 1];
    --k;
  }
  c->x[k] = x[0];
  c->y[k] = x[1];
  c->z[k] = x[2];
  c->id[k] = id;
  c->index[k] = index;
}

void cells_fill(cells* c, const box* own, const particle_list* list, const ghost_list* ghosts) {
  const size_t n_own = list->n;
  cover(c, own);
  reserve(c, n_own + ghosts->n);
  memset(c->start, 0, (c->n_cells + 1) * sizeof *c->start);
  for (size_t i = 0; i < c->n; ++i) {
    c->cell[i] = cell_of(c, i < n_own ? list->at[i].x : ghosts->at[i - n_own].x);
    ++c->start[c->cell[i] + 1];
  }
  for (size_t k = 0; k < c->n_cells; ++k) {
    c->start[k + 1] += c->start[k];
    c->filled[k] = c->start[k];
  }
  for (size_t i = 0; i < c->n; ++i) {
    const size_t k = c->cell[i];
    if (i < n_own) {
      insert(c, c->start[k], c->filled[k]++, list->at[i].x, list->at[i].id, i);
    } else {
      insert(c, c->start[k], c->filled[k]++, ghosts->at[i - n_own].x, ghosts->at[i - n_own].id, i);
    }
  }
}
