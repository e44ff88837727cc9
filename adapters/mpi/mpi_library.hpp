// Which MPI this was built with, and whether the host runs with it.
#pragma once

#include <mpi.h>

#include <cstring>
#include <string>

namespace effort::adapters {

#if defined(OPEN_MPI)
inline constexpr const char* built_with = "Open MPI";
#elif defined(MPICH_VERSION)
inline constexpr const char* built_with = "MPICH";
#else
inline constexpr const char* built_with = "";
#endif

/// Empty where the host runs with the MPI that this was built with; else the name of the host's.
inline std::string other_mpi() {
  // The other MPI writes as much as its own headers allow, not as ours do.
  char text[16384] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  return std::strstr(text, built_with) ? std::string() : std::string(text, strcspn(text, "\n,"));
}

}  // namespace effort::adapters
