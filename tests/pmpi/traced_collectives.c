/* All collectives, with the bytes that each rank sends and receives by the rules of docs/measuring-mpi.md. */
#include "traced.h"

#include <stdlib.h>

enum { most = 64 };
static double out[most * most], in[most * most];
static int ones[most], counts[most], places[most], bytes_at[most];
static MPI_Datatype types[most];

static void expect_world(int root, long sent, long received) {
  expect("collective", "world", root, 0, sent, received, 0);
}

static int doublings(int n) {
  int k = 0;
  for (int d = 1; d < n; d *= 2) ++k;
  return k;
}

/* Rank r contributes 1 + r elements. */
static int sum_of_others(void) {
  int sum = 0;
  for (int r = 0; r < size; ++r) sum += r == rank ? 0 : 1 + r;
  return sum;
}

static void prepare(void) {
  for (int r = 0, at = 0; r < size; ++r) {
    ones[r] = 1;
    counts[r] = 1 + r;
    places[r] = at;
    bytes_at[r] = at * 8;
    types[r] = MPI_DOUBLE;
    at += 1 + r;
  }
}

static void rooted(int root) {
  const int is = rank == root, others = size - 1;
  const void* const mine = is ? MPI_IN_PLACE : out;
  expect_world(root, is ? 80 * others : 0, is ? 0 : 80);
  MPI_Bcast(out, 10, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect_world(root, is ? 0 : 16, is ? 16 * others : 0);
  MPI_Gather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect_world(root, is ? 0 : 16, is ? 16 * others : 0);
  MPI_Gather(mine, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect_world(root, is ? 0 : 8 * (1 + rank), is ? 8 * sum_of_others() : 0);
  MPI_Gatherv(mine, 1 + rank, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect_world(root, is ? 16 * others : 0, is ? 0 : 16);
  MPI_Scatter(out, 2, MPI_DOUBLE, is ? MPI_IN_PLACE : in, 2, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect_world(root, is ? 8 * sum_of_others() : 0, is ? 0 : 8 * (1 + rank));
  MPI_Scatterv(out, counts, places, MPI_DOUBLE, in, 1 + rank, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect_world(root, is ? 0 : 24, is ? 24 * others : 0);
  MPI_Reduce(mine, in, 3, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

static void all(void) {
  const int others = size - 1, k = doublings(size);
  barrier();
  expect_world(-1, 24 * k, 24 * k);
  MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect_world(-1, 16 * others, 16 * others);
  MPI_Allgather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  expect_world(-1, 16 * others, 16 * others);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  expect_world(-1, 8 * (1 + rank) * others, 8 * sum_of_others());
  MPI_Allgatherv(out, 1 + rank, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  expect_world(-1, 8 * (1 + rank) * others, 8 * sum_of_others());
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  expect_world(-1, 16 * others, 16 * others);
  MPI_Alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  expect_world(-1, 16 * others, 16 * others);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  int mine[most], mine_at[most];
  for (int r = 0; r < size; ++r) mine[r] = 1 + rank, mine_at[r] = r * (1 + rank);
  expect_world(-1, 8 * sum_of_others(), 8 * (1 + rank) * others);
  MPI_Alltoallv(out, counts, places, MPI_DOUBLE, in, mine, mine_at, MPI_DOUBLE, MPI_COMM_WORLD);
  expect_world(-1, 8 * others, 8 * others);
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, ones, places, MPI_DOUBLE, MPI_COMM_WORLD);
  expect_world(-1, 8 * others, 8 * others);
  MPI_Alltoallw(out, ones, bytes_at, types, in, ones, bytes_at, types, MPI_COMM_WORLD);
  long parts = 0;
  for (int d = 1; d < size; d *= 2) parts += 1 + (rank - d + size) % size;
  expect_world(-1, 8 * (1 + rank) * k, 8 * parts);
  MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect_world(-1, 16 * k, 16 * k);
  MPI_Reduce_scatter_block(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect_world(-1, rank + 1 < size ? 8 : 0, rank > 0 ? 8 : 0);
  MPI_Scan(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect_world(-1, rank + 1 < size ? 8 : 0, rank > 0 ? 8 : 0);
  MPI_Exscan(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void non_blocking(void) {
  MPI_Request r[5];
  const int others = size - 1, k = doublings(size);
  expect_world(-1, 0, 0);
  MPI_Ibarrier(MPI_COMM_WORLD, &r[0]);
  expect_world(-1, 8 * k, 8 * k);
  MPI_Iallreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r[1]);
  expect_world(size - 1, rank == size - 1 ? 40 * others : 0, rank == size - 1 ? 0 : 40);
  MPI_Ibcast(out + 100, 5, MPI_DOUBLE, size - 1, MPI_COMM_WORLD, &r[2]);
  expect_world(-1, 8 * (1 + rank) * others, 8 * sum_of_others());
  MPI_Iallgatherv(out, 1 + rank, MPI_DOUBLE, in + 100, counts, places, MPI_DOUBLE, MPI_COMM_WORLD, &r[3]);
  expect_world(-1, 8 * others, 8 * others);
  MPI_Ialltoallw(out, ones, bytes_at, types, in + 200, ones, bytes_at, types, MPI_COMM_WORLD, &r[4]);
  MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
}

static void neighbours(void) {
  const int line = 0, whole = size, weight = 1;
  MPI_Comm cart, graph;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &whole, &line, 0, &cart); /* the ends have one neighbour */
  const int n = (rank > 0) + (rank + 1 < size);
  expect("collective", "line", -1, 0, 16 * n, 16 * n, 0);
  MPI_Neighbor_allgather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, cart);
  MPI_Comm_free(&cart);
  /* Each rank sends to the next one only, a part of 1 + rank elements. */
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &next, &weight, MPI_INFO_NULL, 0, &graph);
  const int mine = 1 + rank, theirs = 1 + before, nowhere = 0;
  const MPI_Aint start = 0;
  const MPI_Datatype type = MPI_DOUBLE;
  MPI_Request r;
  expect("collective", "circle", -1, 0, 8 * mine, 8 * theirs, 0);
  MPI_Neighbor_alltoallv(out, &mine, &nowhere, MPI_DOUBLE, in, &theirs, &nowhere, MPI_DOUBLE, graph);
  expect("collective", "circle", -1, 0, 8 * mine, 8 * theirs, 0);
  MPI_Ineighbor_alltoallw(out, &mine, &start, &type, in, &theirs, &start, &type, graph, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  expect("collective", "circle", -1, 0, 8 * mine, 8 * theirs, 0);
  MPI_Neighbor_allgatherv(out, mine, MPI_DOUBLE, in, &theirs, &nowhere, MPI_DOUBLE, graph);
  MPI_Comm_free(&graph);
}

void collectives(void) {
  prepare();
  rooted(0);
  rooted(size - 1);
  barrier();
  all();
  barrier();
  non_blocking();
  barrier();
  neighbours();
  barrier();
}
