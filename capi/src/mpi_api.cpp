// libeffort_mpi: the one call that knows MPI.
#include "effort/effort_mpi.h"

#include "adapters/mpi/mpi_transport.hpp"
#include "attach.hpp"
#include "runtime/status.hpp"

#include <cstring>
#include <string>

using effort::Status;

namespace {

#if defined(OPEN_MPI)
constexpr const char* built_with = "Open MPI";
#elif defined(MPICH_VERSION)
constexpr const char* built_with = "MPICH";
#else
constexpr const char* built_with = "";
#endif

effort_status fail(Status status, const std::string& message) {
  return effort_fail(static_cast<effort_status>(status), message.c_str());
}

// Runs at the start of MPI_Finalize: attributes of MPI_COMM_SELF are deleted before anything else (MPI 3.1, 8.7.1).
int at_mpi_finalize(MPI_Comm, int, void*, void*) {
  effort_finalize_forgotten();
  return MPI_SUCCESS;
}

void finalize_with_mpi() {
  static int key = MPI_KEYVAL_INVALID;
  if (key != MPI_KEYVAL_INVALID) return;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_mpi_finalize, &key, nullptr) == MPI_SUCCESS)
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

}  // namespace

extern "C" effort_status effort_init_mpi(MPI_Comm comm, const effort_config* cfg) {
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (!initialized || finalized)
    return fail(Status::mpi, initialized ? "MPI is finalized already: call effort_init_mpi before MPI_Finalize" : "MPI is not initialized: call MPI_Init before effort_init_mpi (or effort_init now and effort_init_mpi later)");
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  if (!std::strstr(text, built_with))
    return fail(Status::mpi, std::string("libeffort_mpi was built with ") + built_with + ", but the host runs with " + std::string(text, strcspn(text, "\n,")) + ": link the libeffort_mpi of that MPI");
  if (comm == MPI_COMM_NULL) return fail(Status::invalid_argument, "effort_init_mpi: the communicator is MPI_COMM_NULL");
  try {
    const effort_status status = effort_attach_transport(new effort::adapters::MpiTransport(comm), cfg);
    if (status == EFFORT_OK) finalize_with_mpi();
    return status;
  } catch (const effort::Error& e) {
    return fail(e.status(), e.what());
  } catch (const std::exception& e) {
    return fail(Status::internal, e.what());
  }
}

extern "C" effort_status effort_init_mpi_fortran(MPI_Fint comm, const effort_config* cfg) {
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  // Handles can only be translated between init and finalize; the C form says what is wrong.
  return effort_init_mpi(initialized && !finalized ? PMPI_Comm_f2c(comm) : MPI_COMM_NULL, cfg);
}
