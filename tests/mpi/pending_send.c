/* pending_send LEVEL: a large send is under way while a hint is due.  Its receiver takes it before it ends the step,
 * so the sender, waiting for the hint, must keep MPI moving. */
#include "mpi_check.h"

enum { bytes = 64 << 20, window = 3, n_steps = 12 };

int main(int argc, char** argv) {
  static const char* const settings[] = {"WINDOW", "3", "HINT_LAG", "1", NULL};
  if (argc < 2) return 2;
  start_mpi(&argc, &argv, argv[1]);
  const int rank = my_rank(MPI_COMM_WORLD), last = ranks_of(MPI_COMM_WORLD) - 1;
  char* data = malloc(bytes);
  effort_config* config = config_of(settings);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, config));
  CHECK_OK(effort_config_free(config));
  for (int s = 0; s < n_steps; ++s) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (s % window == 0 && s > 0) { /* the hint of the window before is due in this step */
      if (rank == 0) {
        memset(data, s, bytes);
        MPI_Isend(data, bytes, MPI_BYTE, last, s, MPI_COMM_WORLD, &request);
      } else if (rank == last) {
        MPI_Recv(data, bytes, MPI_BYTE, 0, s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data[0] == s && data[bytes - 1] == s);
      }
    }
    CHECK_OK(effort_progress_step());
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  CHECK_OK(effort_finalize());
  free(data);
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
