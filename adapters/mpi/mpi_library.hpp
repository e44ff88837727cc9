// The MPI library of this build, compared with the host's.
#pragma once

#include <mpi.h>

#include <cstdlib>
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

/// Of the MPI library of this process; needs no memory that could be refused.
struct LibraryVersion {
  LibraryVersion() noexcept {
    int length = 0;
    PMPI_Get_library_version(text, &length);
  }
  char text[16384] = "";  ///< another MPI may write more than this build's headers allow
};

/// Whether a second thread may call MPI at MPI_THREAD_MULTIPLE.
/// - Not with MPICH: it no longer locks anything in MPI_Finalize when it deletes the attributes of MPI_COMM_SELF, which
///   ends a session that the host has not finalized.  A thread inside MPI at that moment races with the host's, and the
///   process is aborted (seen with MPICH 4.2 over UCX).
/// - Not with Open MPI 6: it may lose messages between processes in which two threads communicate, and both hang (seen
///   with 6.0.0rc2 over shared memory, also in a program without this library).
inline bool second_thread_may_call() noexcept {
#if defined(MPICH_VERSION)
  return false;
#else
  // The library of the run, because those of Open MPI 4 to 6 have one name: "Open MPI v6.0.0, package: ...".
  const LibraryVersion version;
  constexpr const char* before = "Open MPI v";
  const char* const at = std::strstr(version.text, before);
  return !at || std::atoi(at + std::strlen(before)) < 6;
#endif
}

/// Empty if the host runs with the MPI of this build, else the name of the host's MPI.
inline std::string other_mpi() {
  const LibraryVersion version;
  return std::strstr(version.text, built_with) ? std::string()
                                               : std::string(version.text, std::strcspn(version.text, "\n,"));
}

}  // namespace effort::adapters
