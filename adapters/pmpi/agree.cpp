#include "adapters/pmpi/agree.hpp"

#include "runtime/measure/clock.hpp"

#include <mpi.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace effort::pmpi {
namespace {

/// The minimum of all ranks' values; false if some have not answered after this many sleeps of a millisecond.
/// @param value  stays in use by MPI if they have not answered
bool least_in_time(int& value, long sleeps) {
  constexpr std::uint64_t spinning_ns = 10'000'000;
  MPI_Request request;
  if (PMPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request) != MPI_SUCCESS) return false;
  const std::uint64_t start = measure::monotonic_ns();
  for (;;) {
    int done = 0;
    if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done) return true;
    const timespec pause{0, 1'000'000};
    if (measure::monotonic_ns() - start < spinning_ns)
      sched_yield();
    else if (--sleeps < 0)
      return false;
    else
      nanosleep(&pause, nullptr);
  }
}

}  // namespace

bool all_ranks_present(double init_seconds) {
  // A rank that the system delays must not cost the run its measurements.  A partial preload is a mistake and is
  // reported.
  constexpr double least_seconds = 10, most_seconds = 40, times_init = 4;
  static int present = 1;  // MPI may write to it much later
  return least_in_time(present,
                       static_cast<long>(1000 * std::clamp(times_init * init_seconds, least_seconds, most_seconds)));
}

Agreement all_ranks_ready(bool ready) {
  constexpr long sleeps = 20'000;
  static int all;
  all = ready;
  if (!least_in_time(all, sleeps)) return Agreement::unanswered;
  return all ? Agreement::all : Agreement::refused;
}

}  // namespace effort::pmpi
