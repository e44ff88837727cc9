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

/// Whether a second thread may call MPI until the library's session has ended.  MPICH no longer locks anything in
/// MPI_Finalize when it deletes the attributes of MPI_COMM_SELF, which ends a session that the host has not finalized.
/// A thread inside MPI at that moment races with the host's, and the process is aborted (seen with MPICH 4.2 over UCX).
#if defined(MPICH_VERSION)
inline constexpr bool threads_until_finalize = false;
#else
inline constexpr bool threads_until_finalize = true;
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
