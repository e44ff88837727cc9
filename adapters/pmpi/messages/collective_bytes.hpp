// The bytes that a rank sends and receives in a collective.
#pragma once

#include "adapters/pmpi/messages/communicators.hpp"
#include "adapters/pmpi/messages/message_arguments.hpp"

#include <cstdint>

namespace effort::pmpi {

/// A rank's part in a collective.  Data that it exchanges with itself does not count.
struct Exchanged {
  std::uint64_t sent = 0, received = 0;  ///< bytes, by the rules of docs/measuring-mpi.md
  int root = -1;                         ///< in MPI_COMM_WORLD; -1: none
};

/// @param given  blocking or not
/// Time: linear in the communicator's size if the call has arrays of counts.
Exchanged exchanged(Call given, const DataArguments& a, Communicator& c);

}  // namespace effort::pmpi
