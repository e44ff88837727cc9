// own_kokkos WHEN LEVEL: a host with a Kokkos of its own, initialised before the library, after it, or never.
#include <Kokkos_Core.hpp>

#include "mpi_check.h"

#include <string>

namespace {

int rank;

double sum_on_kokkos() {
  double sum = 0;
  Kokkos::parallel_reduce(
      "host sum", Kokkos::RangePolicy<>(0, 1000), KOKKOS_LAMBDA(const int i, double& s) { s += i; }, sum);
  Kokkos::fence();
  return sum;
}

void steps(int n, bool kokkos) {
  effort_region_id solve;
  effort_hint h;
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  for (int s = 0; s < n; ++s) {
    CHECK_OK(effort_add(solve, 1.0 + rank));
    if (kokkos) CHECK(sum_on_kokkos() == 499500.0);
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_hint_latest(&h));
  for (int r = 0; r < h.n_ranks; ++r) CHECK_NEAR(h.load[r], 1.0 + r, 1e-5);
}

void kokkos_begins() {
  char name[] = "own_kokkos";
  char* arguments[] = {name, nullptr};
  int n = 1;
  Kokkos::initialize(n, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string when = argv[1];
  start_mpi(&argc, &argv, argv[2]);
  rank = my_rank(MPI_COMM_WORLD);
  CHECK(!Kokkos::is_initialized());
  if (when == "before") kokkos_begins();
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, nullptr));
  steps(25, when == "before");
  CHECK(Kokkos::is_initialized() == (when == "before"));
  if (when == "after") kokkos_begins();
  steps(25, when != "never");
  CHECK_OK(effort_finalize());
  CHECK(Kokkos::is_initialized() == (when != "never"));
  if (when != "never") {
    CHECK(sum_on_kokkos() == 499500.0);
    CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, nullptr));  // and a session that outlives the host's Kokkos
    steps(15, true);
    Kokkos::finalize();
    steps(15, false);
    CHECK_OK(effort_finalize());
  }
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
