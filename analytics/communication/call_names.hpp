// Names of MPI's collectives.  Internal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

/// "allreduce" of "MPI_Allreduce", "MPI_Iallreduce", "mpi_allreduce_", and of these with a call path behind it;
/// "collective" if the name is not one of MPI's.
std::string collective_name(const std::string& region);

/// For each region, a number that it shares with those of the same collective_name.
std::vector<std::uint32_t> collective_numbers(const Record& record);

}  // namespace effort::communication
