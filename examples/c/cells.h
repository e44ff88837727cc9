/* Cell lists: particles and ghosts sorted into cells of at least one cutoff. */
#ifndef CELLS_H
#define CELLS_H

#include "domain.h"
#include "particles.h"

/* The cells of this rank's box and one more on each side.  Cells count from the corner of the whole box and their
 * contents are in the order of the ids, so forces are summed in the same order for any division into boxes. */
typedef struct cells {
  double inverse_size; /* cells per unit of length; a whole number of cells per box edge */
  int64_t first[3];    /* coordinates of the lowest cell held; -1 lies across the periodic border */
  int64_t count[3];    /* cells held along each axis, x fastest */
  size_t n_cells, n_cells_capacity;
  size_t* start;  /* [n_cells + 1] into the arrays below */
  size_t* filled; /* [n_cells] scratch: end of the part already filled */
  size_t n, capacity;
  double *x, *y, *z; /* [n] positions, cell by cell */
  int64_t* id;       /* [n] */
  size_t* index;     /* [n] place in the particle list; at or above its length: a ghost */
  size_t* cell;      /* [n] scratch: the cell of each particle, then ghost */
} cells;

void cells_init(cells* c, double length, double cutoff);
void cells_free(cells* c);

/* Sorts all particles and ghosts again. */
void cells_fill(cells* c, const box* own, const particle_list* list, const ghost_list* ghosts);

#endif
