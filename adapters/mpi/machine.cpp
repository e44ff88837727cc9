#include "adapters/mpi/machine.hpp"

#include <climits>
#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace effort::adapters {
namespace {

std::uint64_t this_machine() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  PMPI_Get_processor_name(name, &length);
  return XXH3_64bits(name, static_cast<std::size_t>(length));
}

}  // namespace

int split_by_machine(MPI_Comm comm, int rank, MPI_Comm* machine) {
  const std::uint64_t hash = this_machine();
  MPI_Comm half = MPI_COMM_NULL;
  *machine = MPI_COMM_NULL;
  // A colour has 31 bits, which would be too few for a hundred thousand machines.
  int code = PMPI_Comm_split(comm, static_cast<int>(hash & INT_MAX), rank, &half);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Comm_split(half, static_cast<int>(hash >> 32 & INT_MAX), rank, machine);
  PMPI_Comm_free(&half);
  return code;
}

}  // namespace effort::adapters
