/* A host that runs with another MPI than libeffort_mpi was built with is refused with a message and stays unharmed. The
 * other MPI is simulated: only the call that names the implementation is replaced. */
#include "mpi_check.h"

__attribute__((visibility("default"))) int PMPI_Get_library_version(char* version, int* length) {
  strcpy(version, "Some Other MPI 9.0\nbuilt for a test");
  *length = (int)strlen(version);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  start_mpi(&argc, &argv, "init");
  CHECK_FAILS(effort_init_mpi(MPI_COMM_WORLD, NULL), EFFORT_ERR_MPI,
              "Some Other MPI 9.0: link the libeffort_mpi of that MPI");
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_NOT_INITIALIZED, NULL);
  CHECK_OK(effort_init(NULL)); /* one process still works */
  CHECK_OK(effort_progress_step());
  CHECK_OK(effort_finalize());
  MPI_Finalize();
  return failures() != 0;
}
