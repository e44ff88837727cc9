// How collectives count as messages.
#pragma once

#include "adapters/pmpi/messages/communicators.hpp"
#include "adapters/pmpi/messages/message_arguments.hpp"

#include <cstdint>
#include <vector>

namespace effort::pmpi {

/// A call's part in the communication matrix: a message between this rank and another, or only time spent on one.
struct Part {
  std::int32_t peer;  ///< rank in MPI_COMM_WORLD
  float weight;       ///< relative share in the time of the call
  std::uint64_t bytes;
  bool sends;   ///< to the peer; otherwise the data comes from it
  bool counts;  ///< as a message of `bytes`; otherwise another call counts it
};

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

/// Between which ranks a collective counts as messages (docs/measuring-mpi.md).  One of the two ranks counts each
/// message.
enum class Shape : std::uint8_t {
  none,       ///< no collective with data
  root,       ///< between the root and each other rank, counted by the latter
  each,       ///< from each rank to each other, counted where it arrives
  doubling,   ///< to the ranks 1, 2, 4, ... above
  next,       ///< to the next rank
  neighbours  ///< to the neighbours in the communicator's topology
};
struct CollectiveRule {
  Shape shape = Shape::none;
  int count = -1, type = -1;  ///< places of the arguments that give the size of one message
  int root = -1;              ///< place of the root
  bool from_root = false;     ///< otherwise to it
  bool differs = false;       ///< messages differ in size, according to an array of counts
};
/// @param call  blocking, with counts of either type
constexpr CollectiveRule collective_rule(Call call) {
  switch (call) {
    case Call::Barrier: return {Shape::doubling};
    case Call::Bcast: return {Shape::root, 1, 2, 3, true};
    case Call::Scatter: return {Shape::root, 4, 5, 6, true};
    case Call::Scatterv: return {Shape::root, 5, 6, 7, true};
    case Call::Gather: return {Shape::root, 1, 2, 6};
    case Call::Gatherv: return {Shape::root, 1, 2, 7};
    case Call::Reduce: return {Shape::root, 2, 3, 5};
    case Call::Alltoall:
    case Call::Allgather: return {Shape::each, 4, 5};
    case Call::Allgatherv: return {Shape::each, 4, 6, -1, false, true};
    case Call::Alltoallv:
    case Call::Alltoallw: return {Shape::each, 5, 7, -1, false, true};
    case Call::Allreduce:
    case Call::Reduce_scatter_block:
    case Call::Reduce_scatter: return {Shape::doubling, 2, 3};
    case Call::Scan:
    case Call::Exscan: return {Shape::next, 2, 3};
    case Call::Neighbor_allgather:
    case Call::Neighbor_allgatherv:
    case Call::Neighbor_alltoall: return {Shape::neighbours, 1, 2};
    case Call::Neighbor_alltoallv:
    case Call::Neighbor_alltoallw: return {Shape::neighbours, 1, 3, -1, false, true};
    default: return {};
  }
}

/// Together with the call and the communicator, identifies the messages of a collective, unless
/// CollectiveRule::differs.
struct CollectiveSize {
  bool takes_part = false;  ///< this rank counts messages; never in an intercommunicator
  int root = -1;            ///< in the communicator; -1: none
  std::uint64_t bytes = 0;  ///< of one message
  bool operator==(const CollectiveSize&) const = default;
};
/// @param given  blocking or not
CollectiveSize size_of(Call given, const DataArguments& a, const Communicator& c);
/// Appends the messages that this rank counts.  Cost: linear in their number.
void add_parts(std::vector<Part>& parts, Call given, const DataArguments& a, Communicator& c, CollectiveSize size);

/// Whether the call only starts a collective.
constexpr bool starts_collective(Call call) { return info(call).role == Role::start && blocking(call) != plain(call); }

}  // namespace effort::pmpi
