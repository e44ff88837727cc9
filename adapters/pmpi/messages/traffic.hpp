// The communication matrix, recorded only if COMM_MATRIX asks for it.
#pragma once

#include "adapters/pmpi/calls/arguments.hpp"

#include <cstdint>

namespace effort::pmpi {

/// Whether the matrix is recorded.
extern __attribute__((visibility("hidden"))) bool traffic_on;

/// After MPI_Init: begins to record.
void begin_traffic();
/// Before a call that completes requests: remembers their peers.
void before_completion(Call call, const Arguments& arguments);
/// After a call.  Point-to-point messages and their sizes are counted at the sender; time is charged to the pair with
/// which the caller communicated or for which it waited.  Collectives count by rule (docs/measuring-mpi.md).
void saw_traffic(Call call, const Arguments& arguments, std::uint32_t region, double seconds);
/// Before a step ends: at a window's end, reports the matrix.
void traffic_step(bool last);
void forget_traffic_communicators();

}  // namespace effort::pmpi
