// Which ranks share a machine, for an MPI that does not know.
#pragma once

#include <mpi.h>

namespace effort::adapters {

/// Splits `comm` by machine, with the ranks in their order; collective.  For use where MPI_Comm_split_type puts every
/// rank on a machine of its own, as MPICH 5.0 does over UCX, and Open MPI 4.1.5 with PMIx 4.2.3
/// (github.com/pmodels/mpich/issues/7814, github.com/open-mpi/ompi/issues/11585).  Machines are told apart by their
/// names, hashed to 62 bits.  Ranks on machines of one name are refused each other's memory later.
/// @return MPI's code; on failure *machine is MPI_COMM_NULL
int split_by_machine(MPI_Comm comm, int rank, MPI_Comm* machine);

}  // namespace effort::adapters
