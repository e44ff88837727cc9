/* A grid partitioned by PT-Scotch with vertex loads from the library's costs. */
#include "model.h"

#include <effort/ptscotch.h>

enum { width = 24, height = 24 };

typedef struct {
  int first, n; /* this rank's columns of the grid, with `height` vertices each */
  SCOTCH_Num load[width * height], offset[width * height + 1], neighbour[4 * width * height], part[width * height];
  double place[width * height], weight[width * height];
} grid;

static void build(grid* g, int rank, int size) {
  const int last = (rank + 1) * width / size;
  SCOTCH_Num edges = 0;
  g->first = rank * width / size;
  g->n = (last - g->first) * height;
  for (int v = 0; v < g->n; ++v) {
    const int x = g->first + v / height, y = v % height, id = x * height + y;
    g->place[v] = (x + 0.5) / width;
    g->offset[v] = edges;
    if (x > 0) g->neighbour[edges++] = id - height;
    if (x + 1 < width) g->neighbour[edges++] = id + height;
    if (y > 0) g->neighbour[edges++] = id - 1;
    if (y + 1 < height) g->neighbour[edges++] = id + 1;
  }
  g->offset[g->n] = edges;
}

int main(int argc, char** argv) {
  static grid g;
  start_mpi(&argc, &argv,
            "multiple"); /* Debian builds PT-Scotch with threads that call MPI, so it can hang at a lower level */
  const int rank = my_rank(MPI_COMM_WORLD), size = ranks_of(MPI_COMM_WORLD);
  double* load = calloc((size_t)size, sizeof *load);
  build(&g, rank, size);
  for (int v = 0; v < g.n; ++v) load[rank] += true_cost(g.place[v]);
  CHECK(imbalance_of(load) > 0.5);
  weigh(g.n, g.place, g.weight);
  CHECK_OK(effort_ptscotch_loads(MPI_COMM_WORLD, g.n, g.weight, g.load));

  SCOTCH_Dgraph graph;
  SCOTCH_Strat strategy;
  CHECK(SCOTCH_dgraphInit(&graph, MPI_COMM_WORLD) == 0);
  CHECK(SCOTCH_dgraphBuild(&graph, 0, g.n, g.n, g.offset, NULL, g.load, NULL, g.offset[g.n], g.offset[g.n], g.neighbour,
                           NULL, NULL) == 0);
  CHECK(SCOTCH_dgraphCheck(&graph) == 0);
  SCOTCH_stratInit(&strategy);
  CHECK(SCOTCH_dgraphPart(&graph, size, &strategy, g.part) == 0);
  SCOTCH_stratExit(&strategy);
  SCOTCH_dgraphExit(&graph);

  memset(load, 0, (size_t)size * sizeof *load);
  for (int v = 0; v < g.n; ++v) load[g.part[v]] += true_cost(g.place[v]);
  CHECK(imbalance_of(load) < 0.12); /* PT-Scotch's own tolerance plus a vertex */
  free(load);
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
