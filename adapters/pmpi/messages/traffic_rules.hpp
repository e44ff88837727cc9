// The messages of MPI calls, as the communication matrix counts them.
#pragma once

#include "adapters/pmpi/calls/arguments.hpp"

#include <vector>

namespace effort::pmpi {

inline MPI_Datatype type_at(const Arguments& a, int i, int element = 0) {
  return a.fortran ? PMPI_Type_f2c(a.pointer<MPI_Fint>(i)[element]) : from_word<MPI_Datatype>(a.words[i]);
}

inline double bytes_of(double count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return count * size;
}

/// The rank in MPI_COMM_WORLD of a communicator's rank; -1 if there is none.
/// @param ranks  [ranks of the communicator] their ranks in MPI_COMM_WORLD
inline int world_rank(const std::vector<int>& ranks, int rank) {
  return rank >= 0 && static_cast<std::size_t>(rank) < ranks.size() ? ranks[static_cast<std::size_t>(rank)] : -1;
}

/// One message between this rank and another.
struct Message {
  int peer;  ///< world rank, not this one
  bool sends;
  double bytes;
};

/// This rank's part in a collective, blocking or not, by the rules in docs/measuring-mpi.md: each message is counted by
/// one of the two ranks.  Empty for other calls and for intercommunicators.
/// @param ranks  see world_rank
/// @param self   this rank in MPI_COMM_WORLD
std::vector<Message> messages_of(Call given, const Arguments& a, const std::vector<int>& ranks, int self);

/// The blocking collective with the same arguments; the call itself if it does not start one.
constexpr Call blocking(Call call) {
  switch (call) {
    case Call::Ibarrier: return Call::Barrier;
    case Call::Ibcast: return Call::Bcast;
    case Call::Igather: return Call::Gather;
    case Call::Igatherv: return Call::Gatherv;
    case Call::Iscatter: return Call::Scatter;
    case Call::Iscatterv: return Call::Scatterv;
    case Call::Ireduce: return Call::Reduce;
    case Call::Iallgather: return Call::Allgather;
    case Call::Iallgatherv: return Call::Allgatherv;
    case Call::Ialltoall: return Call::Alltoall;
    case Call::Ialltoallv: return Call::Alltoallv;
    case Call::Ialltoallw: return Call::Alltoallw;
    case Call::Iallreduce: return Call::Allreduce;
    case Call::Ireduce_scatter: return Call::Reduce_scatter;
    case Call::Ireduce_scatter_block: return Call::Reduce_scatter_block;
    case Call::Iscan: return Call::Scan;
    case Call::Iexscan: return Call::Exscan;
    case Call::Ineighbor_allgather: return Call::Neighbor_allgather;
    case Call::Ineighbor_allgatherv: return Call::Neighbor_allgatherv;
    case Call::Ineighbor_alltoall: return Call::Neighbor_alltoall;
    case Call::Ineighbor_alltoallv: return Call::Neighbor_alltoallv;
    case Call::Ineighbor_alltoallw: return Call::Neighbor_alltoallw;
    default: return call;
  }
}

/// Whether the call only starts a collective.
constexpr bool starts_collective(Call call) { return blocking(call) != call; }

}  // namespace effort::pmpi
