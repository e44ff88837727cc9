// Names communicators for traces, by an id that all members derive without a message.
#pragma once

#include "adapters/pmpi/calls/calls.hpp"

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace effort::pmpi {

/// The destinations and sources of a neighbourhood collective, as ranks of the communicator, in MPI's order.
struct Neighbours {
  std::vector<int> sends_to, receives_from;
};
/// Looks up the topology.
Neighbours neighbours_of(MPI_Comm comm);

/// A communicator.  Its hash is the same on all members and differs from that of other communicators: it is made of the
/// parent's hash, the number of the call on the parent that made it, and the members.
struct Communicator {
  std::uint64_t hash = 0;
  std::uint32_t id = unknown;   ///< in records; see id_of()
  std::uint32_t made = 0;       ///< calls on it so far that make communicators
  int size = 0;                 ///< ranks of `world`
  std::uint32_t doublings = 1;  ///< messages of a rank in a recursive-doubling exchange (1, 2, 4, ... ranks away)
  int me = 0;                   ///< this rank's number in it; of an intercommunicator, in the local group
  bool inter = false;
  bool freed = false;
  bool shares_id = false;  ///< there are too many: others have the same id
  int users = 0;           ///< pending requests and messages that refer to it
  std::vector<int> world;  ///< ranks in MPI_COMM_WORLD, -1 unknown, of those that its ranks address (of an
                           ///< intercommunicator, the remote group); empty: they are equal
  std::string name, members;
  bool neighbours_known = false;
  Neighbours neighbours;

  static constexpr std::uint32_t unknown = 0xffffffff;
  int world_rank(int rank) const {
    if (static_cast<unsigned>(rank) >= static_cast<unsigned>(size)) return -1;
    return world.empty() ? rank : world[static_cast<std::size_t>(rank)];
  }
};

// The functions below belong to one thread at a time.  They may throw std::bad_alloc.

/// Forgets everything: a recording begins.
void begin_communicators();
/// The communicator of a handle; null if the handle does not name one.  One that was made before the recording began,
/// or by a call that is not intercepted, is identified by its members and by its position among the communicators with
/// the same members.
Communicator* find_communicator(MPI_Comm handle);
/// The one that was asked for last.
struct LastCommunicator {
  MPI_Comm handle;
  Communicator* communicator;  ///< null: none
};
extern __attribute__((visibility("hidden"))) LastCommunicator last_communicator;
inline Communicator* communicator(MPI_Comm handle) {
  if (__builtin_expect(last_communicator.communicator && last_communicator.handle == handle, 1))
    return last_communicator.communicator;
  return find_communicator(handle);
}
/// Its number in this rank's records, registered when it is first asked for.
std::uint32_t register_id(Communicator& communicator);
inline std::uint32_t id_of(Communicator& c) { return c.id != Communicator::unknown ? c.id : register_id(c); }
/// Another session begins: numbers are assigned from scratch.
void renew_ids();
/// Looks up the topology, once.
void find_neighbours(Communicator& c, MPI_Comm comm);

/// A call on `parent` has made `made` (MPI_COMM_NULL: not on this rank).
/// @param tag  of MPI_Comm_create_group
void saw_new(Call call, MPI_Comm parent, MPI_Comm made, int tag);
void saw_freed(MPI_Comm handle);
/// Adds a reference to a communicator, which is kept until drop().
inline void use(Communicator& c) { ++c.users; }
/// Deletes a freed communicator that nothing refers to.
void forget_freed(Communicator& c);
inline void drop(Communicator& c) {
  if (--c.users == 0 && c.freed) forget_freed(c);
}

}  // namespace effort::pmpi
