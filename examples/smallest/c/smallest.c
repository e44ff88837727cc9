/* The smallest use of effort in C. Each rank computes some rows of a Mandelbrot image that moves from step to step, and
 * the rows are redistributed when a hint says that it pays. */
#include <effort/effort_mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 240, COLUMNS = 240, STEPS = 200, LIMIT = 200 };

typedef struct {
  int* first; /* rank r computes rows first[r] to first[r + 1] - 1 */
  int rebalances;
} division;

/* Iterations until the points of a row escape. Rows that cross the Mandelbrot set cost most. */
static long compute_row(int row, int step) {
  const double ci = 2.4 * row / ROWS - 1.8 + 1.2 * step / STEPS;
  long iterations = 0;
  for (int column = 0; column < COLUMNS; ++column) {
    const double cr = 3.0 * column / COLUMNS - 2.2;
    double x = 0, y = 0;
    for (int n = 0; n < LIMIT && x * x + y * y <= 4; ++n, ++iterations) {
      const double next = x * x - y * y + cr;
      y = 2 * x * y + ci;
      x = next;
    }
  }
  return iterations;
}

/* Called inside progress_step on every rank, at the same step and with the same numbers, so all ranks compute the same
 * division without communication. Each row is assumed to cost the mean of its rank's rows. */
static int on_hint(const effort_hint* hint, void* user) {
  division* d = user;
  double cost[ROWS], total = 0, below = 0;
  if (!hint->rebalance) return 0;
  for (int r = 0; r < hint->n_ranks; ++r)
    for (int row = d->first[r]; row < d->first[r + 1]; ++row) {
      cost[row] = hint->predicted[r] / (d->first[r + 1] - d->first[r]);
      total += cost[row];
    }
  for (int r = 1, row = 0; r < hint->n_ranks; ++r) {
    while (row < ROWS && below + cost[row] / 2 < total * r / hint->n_ranks) below += cost[row++];
    d->first[r] = row;
  }
  d->rebalances += 1; /* a real code moves its data here */
  return 1;
}

int main(int argc, char** argv) {
  int rank, ranks;
  long iterations = 0, all = 0;
  effort_region_id compute, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  division d = {malloc((ranks + 1) * sizeof(int)), 0};
  if (!d.first) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int r = 0; r <= ranks; ++r) d.first[r] = r * ROWS / ranks;

  if (effort_init_mpi(MPI_COMM_WORLD, NULL) != EFFORT_OK) fprintf(stderr, "%s\n", effort_last_error());
  effort_region("compute", EFFORT_COMPUTE, &compute);
  effort_region("sum", EFFORT_COMM, &sum);
  effort_on_rebalance(on_hint, &d);

  for (int step = 0; step < STEPS; ++step) {
    effort_begin(compute);
    for (int row = d.first[rank]; row < d.first[rank + 1]; ++row) iterations += compute_row(row, step);
    effort_end(compute);

    effort_begin(sum);
    MPI_Allreduce(&iterations, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    effort_end(sum);

    progress_step(); /* hints arrive in here */
  }
  effort_finalize();

  if (rank == 0) printf("%ld iterations, rebalanced %d times\n", all, d.rebalances);
  free(d.first);
  MPI_Finalize();
  return 0;
}
