#include "adapters/pmpi/agree.hpp"

#include "runtime/measure/clock.hpp"

#include <mpi.h>
#include <sched.h>
#include <time.h>

namespace effort::pmpi {
namespace {

/// The least of all ranks' values; false where some did not answer in time.
/// @param value  stays in use by MPI when they did not
bool least_in_time(int& value) {
  constexpr double spinning = 0.01;
  MPI_Request request;
  if (PMPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request) != MPI_SUCCESS) return false;
  const std::uint64_t start = measure::monotonic_ns();
  for (;;) {
    int done = 0;
    if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done) return true;
    const double waited = static_cast<double>(measure::monotonic_ns() - start) * 1e-9;
    if (waited > most_seconds_for_others) return false;
    const timespec pause{0, 1'000'000};
    waited < spinning ? sched_yield() : nanosleep(&pause, nullptr);
  }
}

}  // namespace

Agreement all_ranks_ready(bool ready) {
  static int round[2];  // MPI may write to them long after
  round[0] = ready;
  round[1] = 1;
  if (!least_in_time(round[0]) || !least_in_time(round[1])) return Agreement::unanswered;
  return round[0] ? Agreement::all : Agreement::refused;
}

}  // namespace effort::pmpi
