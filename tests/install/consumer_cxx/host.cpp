// A C++ host: it includes MPI's header as C++, and its regions are scopes.
#include <effort/effort_mpi.h>
#include <effort/effort.hpp>

#include <cstdio>

namespace {

int calls = 0;

int on_rebalance(const effort_hint* hint, void*) {
  calls += hint->n_regions == 1 && hint->region_load[0] > 0;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (effort_init_mpi(MPI_COMM_WORLD, nullptr) != EFFORT_OK) {
    std::fprintf(stderr, "%s\n", effort_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  effort_on_rebalance(on_rebalance, nullptr);
  volatile double work = 0;
  for (int step = 0; step < 25; ++step) {
    {
      static const effort::RegionId solve("solve");
      const effort::Region in_solve(solve);
      for (int i = 0; i < 1000; ++i) work = work + i;
    }
    progress_step();
  }
  const effort_status status = effort_finalize();
  MPI_Finalize();
  return status != EFFORT_OK || calls < 2;
}
