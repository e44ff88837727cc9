/* late VERBOSE: a rank reaches its progress step later than HINT_TIMEOUT.  Under VERBOSE the others report this once.
 * They keep waiting, and nothing ends. */
#define _XOPEN_SOURCE 700
#include "mpi_check.h"

#include <time.h>
#include <unistd.h>

static int lines_with(const char* path, const char* text) {
  char line[1024];
  int n = 0;
  FILE* in = fopen(path, "r");
  if (!CHECK(in != NULL)) return -1;
  while (fgets(line, sizeof line, in)) n += strstr(line, text) != NULL;
  fclose(in);
  return n;
}

int main(int argc, char** argv) {
  const char* verbose = argc > 1 ? argv[1] : "0";
  start_mpi(&argc, &argv, "init");
  const int rank = my_rank(MPI_COMM_WORLD);
  const char* const pairs[] = {"VERBOSE", verbose, "HINT_TIMEOUT", "0.4", "WINDOW", "10", NULL};
  char path[300];
  snprintf(path, sizeof path, "late-%s-%d.err", verbose, rank);
  fflush(stderr);
  const int terminal = dup(2);
  CHECK(freopen(path, "w", stderr) != NULL);
  effort_config* config = config_of(pairs);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, config));
  effort_config_free(config);
  effort_region_id solve;
  effort_hint hint;
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  for (int s = 0; s < 40; ++s) {
    if (s == 15 && rank == 1) {
      const struct timespec late = {1, 500000000};
      nanosleep(&late, NULL);
    }
    CHECK_OK(effort_add(solve, 1.0));
    CHECK_OK(effort_progress_step());
  }
  hint.struct_size = sizeof hint;
  CHECK_OK(effort_hint_latest(&hint));
  CHECK(hint.window_last == 29);
  CHECK_OK(effort_finalize());
  fflush(stderr);
  dup2(terminal, 2);
  if (rank == 0) CHECK(lines_with(path, "HINT_TIMEOUT") == (strcmp(verbose, "1") == 0));
  if (strcmp(verbose, "0") == 0) CHECK(lines_with(path, "") == 0);
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
