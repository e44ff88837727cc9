/* Integer costs over ranks: their sum is exact, ranks get proportional parts, and all ranks refuse if one is wrong. */
#include "mpi_check.h"

static int64_t sum_of_all(size_t n, const int64_t* cost) {
  long long sum = 0, all = 0;
  for (size_t i = 0; i < n; ++i) sum += cost[i];
  MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  const double weight[4] = {1, 3, 0, 4}, zero[4] = {0, 0, 0, 0}, bad[4] = {1, -1, 1, 1};
  int64_t cost[4] = {-1, -1, -1, -1};
  CHECK_FAILS(effort_weights_integers_mpi(MPI_COMM_NULL, 4, weight, 10, 0, cost), EFFORT_ERR_MPI, "MPI");
  start_mpi(&argc, &argv, "init");
  const int rank = my_rank(MPI_COMM_WORLD);
  const size_t n = rank == 0 ? 4 : rank == 1 ? 2 : 0; /* 1 3 0 4, 1 3, none: 12 in all */
  CHECK_OK(effort_weights_integers_mpi(MPI_COMM_WORLD, n, weight, 1200, 0, cost));
  for (size_t i = 0; i < n; ++i) CHECK(cost[i] == (int64_t)(100 * weight[i]));
  CHECK_OK(effort_weights_integers_mpi(MPI_COMM_WORLD, n, weight, 1009, 3, cost));
  CHECK(sum_of_all(n, cost) == 1009);
  for (size_t i = 0; i < n; ++i) CHECK(cost[i] >= 3);
  CHECK_OK(effort_weights_integers_mpi(MPI_COMM_WORLD, n, zero, 60, 0, cost));
  for (size_t i = 0; i < n; ++i) CHECK(cost[i] == 10);
  CHECK_OK(effort_weights_integers_mpi(MPI_COMM_WORLD, 0, NULL, 60, 0, NULL));
  CHECK_FAILS(effort_weights_integers_mpi(MPI_COMM_WORLD, n, weight, 5, 1, cost), EFFORT_ERR_INVALID_ARGUMENT,
              "choose a larger sum");
  CHECK_FAILS(effort_weights_integers_mpi(MPI_COMM_WORLD, n, rank == 1 ? bad : weight, 60, 0, cost),
              EFFORT_ERR_INVALID_ARGUMENT, "rank 1");
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
