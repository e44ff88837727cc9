// The MPI library of this build, compared with the host's.
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

/// Empty if the host runs with the MPI of this build, else the name of the host's MPI.
inline std::string other_mpi() {
  // Another MPI may write more than this build's headers allow.
  char text[16384] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  return std::strstr(text, built_with) ? std::string() : std::string(text, strcspn(text, "\n,"));
}

}  // namespace effort::adapters
