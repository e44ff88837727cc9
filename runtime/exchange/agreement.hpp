// Agreement of all ranks on whether to continue, so that none continues alone.  Blocking and collective over all ranks
// of the transport.
#pragma once

#include "runtime/exchange/transport.hpp"
#include "runtime/status.hpp"

#include <cstdint>

namespace effort::exchange {

/// The worst status over all ranks, which is the one with the lowest value.  The same on every rank.
/// @throws Error(mpi) if the transport fails
Status worst_status(Transport& transport, Status mine);

/// Whether all ranks pass the same value; the same answer on every rank.
/// @throws Error(mpi) if the transport fails
bool same_on_all_ranks(Transport& transport, std::int64_t value);

}  // namespace effort::exchange
