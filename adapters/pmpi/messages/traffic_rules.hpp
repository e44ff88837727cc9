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

/// The blocking collective with the same arguments; the plain call itself if it starts or prepares none.
constexpr Call blocking(Call call) {
  switch (plain(call)) {
    case Call::Ibarrier:
    case Call::Barrier_init: return Call::Barrier;
    case Call::Ibcast:
    case Call::Bcast_init: return Call::Bcast;
    case Call::Igather:
    case Call::Gather_init: return Call::Gather;
    case Call::Igatherv:
    case Call::Gatherv_init: return Call::Gatherv;
    case Call::Iscatter:
    case Call::Scatter_init: return Call::Scatter;
    case Call::Iscatterv:
    case Call::Scatterv_init: return Call::Scatterv;
    case Call::Ireduce:
    case Call::Reduce_init: return Call::Reduce;
    case Call::Iallgather:
    case Call::Allgather_init: return Call::Allgather;
    case Call::Iallgatherv:
    case Call::Allgatherv_init: return Call::Allgatherv;
    case Call::Ialltoall:
    case Call::Alltoall_init: return Call::Alltoall;
    case Call::Ialltoallv:
    case Call::Alltoallv_init: return Call::Alltoallv;
    case Call::Ialltoallw:
    case Call::Alltoallw_init: return Call::Alltoallw;
    case Call::Iallreduce:
    case Call::Allreduce_init: return Call::Allreduce;
    case Call::Ireduce_scatter:
    case Call::Reduce_scatter_init: return Call::Reduce_scatter;
    case Call::Ireduce_scatter_block:
    case Call::Reduce_scatter_block_init: return Call::Reduce_scatter_block;
    case Call::Iscan:
    case Call::Scan_init: return Call::Scan;
    case Call::Iexscan:
    case Call::Exscan_init: return Call::Exscan;
    case Call::Ineighbor_allgather:
    case Call::Neighbor_allgather_init: return Call::Neighbor_allgather;
    case Call::Ineighbor_allgatherv:
    case Call::Neighbor_allgatherv_init: return Call::Neighbor_allgatherv;
    case Call::Ineighbor_alltoall:
    case Call::Neighbor_alltoall_init: return Call::Neighbor_alltoall;
    case Call::Ineighbor_alltoallv:
    case Call::Neighbor_alltoallv_init: return Call::Neighbor_alltoallv;
    case Call::Ineighbor_alltoallw:
    case Call::Neighbor_alltoallw_init: return Call::Neighbor_alltoallw;
    default: return plain(call);
  }
}

/// Whether the call only starts a collective.
constexpr bool starts_collective(Call call) { return info(call).role == Role::start && blocking(call) != plain(call); }

}  // namespace effort::pmpi
