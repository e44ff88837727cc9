/* Zoltan's recursive coordinate bisection with the library's costs. */
#include "model.h"

#include <effort/zoltan.h>

enum { n_items = 600 };

typedef struct {
  int n;
  ZOLTAN_ID_TYPE id[n_items];
  double place[n_items], weight[n_items];
} mesh;

static int count(void* data, int* error) {
  *error = ZOLTAN_OK;
  return ((mesh*)data)->n;
}

static void list(void* data, int n_gid, int n_lid, ZOLTAN_ID_PTR gid, ZOLTAN_ID_PTR lid, int n_weights, float* weight,
                 int* error) {
  const mesh* m = data;
  for (int i = 0; i < m->n; ++i) {
    gid[i * n_gid] = m->id[i];
    if (n_lid > 0) lid[i * n_lid] = (ZOLTAN_ID_TYPE)i;
    if (n_weights > 0) weight[i * n_weights] = 1; /* replaced */
  }
  *error = ZOLTAN_OK;
}

static int dimensions(void* data, int* error) {
  (void)data;
  *error = ZOLTAN_OK;
  return 1;
}

static void coordinates(void* data, int n_gid, int n_lid, int n, ZOLTAN_ID_PTR gid, ZOLTAN_ID_PTR lid, int dim,
                        double* x, int* error) {
  const mesh* m = data;
  (void)n_gid, (void)gid, (void)dim;
  for (int i = 0; i < n; ++i) x[i] = m->place[lid[i * n_lid]];
  *error = ZOLTAN_OK;
}

static double partition(mesh* m, int rank, int size) {
  float version;
  struct Zoltan_Struct* zoltan;
  CHECK(Zoltan_Initialize(0, NULL, &version) == ZOLTAN_OK);
  zoltan = Zoltan_Create(MPI_COMM_WORLD);
  Zoltan_Set_Param(zoltan, "LB_METHOD", "RCB");
  Zoltan_Set_Param(zoltan, "DEBUG_LEVEL", "0");
  Zoltan_Set_Param(zoltan, "IMBALANCE_TOL", "1.02");
  Zoltan_Set_Num_Geom_Fn(zoltan, dimensions, m);
  Zoltan_Set_Geom_Multi_Fn(zoltan, coordinates, m);
  effort_zoltan weights = {count, m, list, m, m->weight};
  CHECK(effort_zoltan_attach(zoltan, &weights) == ZOLTAN_OK);
  int changes, gids, lids, n_in, n_out, *in_rank, *in_part, *out_rank, *out_part;
  ZOLTAN_ID_PTR in_gid, in_lid, out_gid, out_lid;
  CHECK(Zoltan_LB_Partition(zoltan, &changes, &gids, &lids, &n_in, &in_gid, &in_lid, &in_rank, &in_part, &n_out,
                            &out_gid, &out_lid, &out_rank, &out_part) == ZOLTAN_OK);
  double* load = calloc((size_t)size, sizeof *load);
  for (int i = 0; i < m->n; ++i) load[rank] += true_cost(m->place[i]);
  for (int k = 0; k < n_out; ++k) {
    const double cost = true_cost(m->place[out_lid[k]]);
    load[rank] -= cost;
    load[out_rank[k]] += cost;
  }
  const double imbalance = imbalance_of(load);
  free(load);
  Zoltan_LB_Free_Part(&in_gid, &in_lid, &in_rank, &in_part);
  Zoltan_LB_Free_Part(&out_gid, &out_lid, &out_rank, &out_part);
  Zoltan_Destroy(&zoltan);
  return imbalance;
}

int main(int argc, char** argv) {
  static mesh m;
  start_mpi(&argc, &argv, "init");
  const int rank = my_rank(MPI_COMM_WORLD), size = ranks_of(MPI_COMM_WORLD);
  double* load = calloc((size_t)size, sizeof *load);
  for (int i = rank * n_items / size; i < (rank + 1) * n_items / size; ++i) {
    m.id[m.n] = (ZOLTAN_ID_TYPE)i;
    m.place[m.n] = (i + 0.5) / n_items;
    load[rank] += true_cost(m.place[m.n++]);
  }
  CHECK(imbalance_of(load) > 0.5);
  weigh(m.n, m.place, m.weight);
  CHECK(partition(&m, rank, size) < 0.05);
  free(load);
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
