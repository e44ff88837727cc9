// Names of MPI's collectives.  Internal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

/// "allreduce" for "MPI_Allreduce", "MPI_Iallreduce" or "mpi_allreduce_", with or without a call path after it;
/// "collective" if the name is not one of MPI's.
std::string collective_name(const std::string& region);

/// For each region, a number that all regions with the same collective_name share.
std::vector<std::uint32_t> collective_numbers(const Record& record);

}  // namespace effort::communication
