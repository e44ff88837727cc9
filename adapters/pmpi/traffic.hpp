// Who sends how much to whom: the communication matrix, kept only where COMM_MATRIX asks for it.
#pragma once

#include "adapters/pmpi/arguments.hpp"

#include <cstdint>

namespace effort::pmpi {

/// Whether anything is kept.
extern __attribute__((visibility("hidden"))) bool traffic_on;

/// MPI is there: begins to keep.
void begin_traffic();
/// A call that completes requests is about to be made: remembers whose they are.
void before_completion(Call call, const Arguments& arguments);
/// A call has been left.  Sizes are the sender's for point-to-point calls, where also the message is counted; time goes
/// to the pair that the caller dealt with or waited for.  Collectives count by rule (docs/measuring-mpi.md).
void saw_traffic(Call call, const Arguments& arguments, std::uint32_t region, double seconds);
/// A step is about to end: at a window's end, hands over what was kept.
void traffic_step(bool last);
void forget_traffic_communicators();

}  // namespace effort::pmpi
