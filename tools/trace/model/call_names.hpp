// From names of regions to MPI calls, their kinds, and OTF2's collective operations.
#pragma once

#include <cstdint>
#include <string>

namespace effort::tools {

/// "allreduce" for "MPI_Allreduce", "mpi_allreduce_" or a call path "MPI_Allreduce [...]"; empty if it is not an MPI
/// call.
std::string mpi_call(const std::string& region);

/// The OTF2_CollectiveOp of a call, OTF2_COLLECTIVE_OP_BARRIER (0) to ...; non-blocking and neighbourhood forms count
/// as their plain one.  -1: none of them.
int collective_of(const std::string& call);

/// A plain name, "MPI_Allreduce", of an OTF2_CollectiveOp; "collective" if it is unknown.
std::string name_of_collective(int operation);

/// Whether a call sends or receives between two ranks.
bool is_point_to_point(const std::string& call);

/// Whether a call asks once whether a request or message is there.
bool is_poll(const std::string& call);

/// The kind of a region that another tool recorded, by its name, as libeffort_pmpi would assign it.
std::uint8_t kind_of_call(const std::string& name);

}  // namespace effort::tools
