// Many nodes in one process: each rank of the communicator is a thread.
#pragma once

#include "analytics/comm/communicator.hpp"

#include <functional>
#include <memory>

namespace effort {

/// Runs `body(comm)` on `size` threads, each holding its own rank of one communicator, and returns when all have
/// finished.  For tests and for `effort replay`, which simulate many nodes without MPI.  An exception of one
/// thread makes the others' collectives throw CommunicatorError; the first exception is rethrown to the caller.
///
/// @param size  number of ranks, at least 1
void run_thread_group(int size, const std::function<void(Communicator&)>& body);

}  // namespace effort
