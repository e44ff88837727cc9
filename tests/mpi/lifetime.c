/* lifetime CASE LEVEL DIR: orders of initialization and finalization that are possible only once per process. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "mpi_check.h"
#include "snapshot_info.h"

#include <dirent.h>
#include <unistd.h>

static int rank, size;

/* Threads of that name, and how often they have gone to sleep so far. */
static int threads_named(const char* name, long* naps) {
  int found = 0;
  *naps = 0;
  DIR* tasks = opendir("/proc/self/task");
  for (struct dirent* e = tasks ? readdir(tasks) : NULL; e; e = readdir(tasks)) {
    char path[300], line[200], text[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
    FILE* status = fopen(path, "r");
    if (!status) continue;
    long times = 0;
    while (fgets(line, sizeof line, status)) {
      sscanf(line, "Name: %31s", text);
      sscanf(line, "voluntary_ctxt_switches: %ld", &times);
    }
    fclose(status);
    if (strcmp(text, name) != 0) continue;
    ++found;
    *naps += times;
  }
  if (tasks) closedir(tasks);
  return found;
}

/* Registered before the library's own handler, so called after it: no thread of the library runs any more.  The thread
 * of an exchange that cannot be taken back sleeps, and does not wake. */
static void after_the_library(void) {
  long before = -1, naps = -1;
  for (int look = 0; look < 50; ++look) { /* it may just be falling asleep */
    before = naps;
    if (threads_named("effort", &naps) > 1) _exit(3);
    if (naps == before) return;
    usleep(30000);
  }
  _exit(3);
}

/* As above, for a host that ends MPI in an exit handler. */
static void mpi_after_the_library(void) {
  after_the_library();
  usleep(rank == 0 ? 200000 : 0); /* the others' part of the exchange that rank 0 has given up arrives */
  if (effort_begin(1) != EFFORT_OK || effort_progress_step() != EFFORT_OK) _exit(4);
  MPI_Finalize();
  if (effort_finalize() != EFFORT_OK) _exit(5);
}

static void steps(int n) {
  int32_t solve;
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  for (int s = 0; s < n; ++s) {
    CHECK_OK(effort_add(solve, 1.0 + rank));
    CHECK_OK(effort_progress_step());
  }
}

static void begin_mpi(int* argc, char*** argv, const char* level) {
  start_mpi(argc, argv, level);
  rank = my_rank(MPI_COMM_WORLD);
  size = ranks_of(MPI_COMM_WORLD);
}

static int ended_with_snapshot(const char* dir, double want_steps) {
  char path[512];
  if (rank != 0) return failures() != 0;
  if (CHECK(snapshots_in(dir, path, sizeof path) == 1)) {
    const char* json = info_json(path);
    CHECK_NEAR(number_in(json, "", "steps"), want_steps, 0);
    CHECK_NEAR(number_in(json, "", "ranks"), size, 0);
  }
  return failures() != 0;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const char *which = argv[1], *level = argv[2];
  char dir[300];
  snprintf(dir, sizeof dir, "%s", argv[3]);
  setenv("EFFORT_SNAPSHOT_DIR", dir, 1);
  int32_t early;
  if (strncmp(which, "exits", 5) == 0)
    CHECK(atexit(strstr(which, "late_mpi") ? mpi_after_the_library : after_the_library) == 0);
  if (strcmp(which, "init_before_mpi") == 0) {
    CHECK_OK(effort_init(NULL));
    CHECK_OK(effort_region("early", EFFORT_COMPUTE, &early));
    CHECK_FAILS(effort_init_mpi(MPI_COMM_WORLD, NULL), EFFORT_ERR_MPI, "MPI is not initialized");
    begin_mpi(&argc, &argv, level);
    CHECK_OK(effort_begin(early));
    CHECK_OK(effort_end(early));
    CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
    steps(25);
    CHECK_OK(effort_finalize());
    MPI_Finalize();
    return ended_with_snapshot(dir, 25);
  }
  begin_mpi(&argc, &argv, level);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  steps(25);
  if (strcmp(which, "forgotten") == 0) {
    MPI_Finalize();
    CHECK_FAILS(effort_progress_step(), EFFORT_ERR_NOT_INITIALIZED, NULL);
    CHECK_OK(effort_finalize()); /* late, not wrong */
    CHECK_FAILS(effort_finalize(), EFFORT_ERR_NOT_INITIALIZED, NULL);
    CHECK_FAILS(effort_init_mpi(MPI_COMM_WORLD, NULL), EFFORT_ERR_MPI, "finalized");
    return ended_with_snapshot(dir, 25);
  }
  if (strcmp(which, "after_mpi") == 0) {
    /* Forgotten until after MPI_Finalize: that has written the snapshot; another session of one process begins. */
    MPI_Finalize();
    const int failed = ended_with_snapshot(dir, 25);
    char alone[400];
    snprintf(alone, sizeof alone, "%s/alone-%d", dir, rank);
    setenv("EFFORT_SNAPSHOT_DIR", alone, 1);
    CHECK_OK(effort_init(NULL));
    steps(12);
    CHECK_OK(effort_finalize());
    CHECK(snapshots_in(alone, NULL, 0) == 1);
    return failed || failures() != 0;
  }
  if (strncmp(which, "exits_in_exchange", 17) == 0) {
    /* rank 0's window is complete, and its node waits for the others' */
    usleep(rank == 0 ? 0 : 70000); /* by then rank 0 has given the exchange up */
    for (int s = 25; s < 30; ++s) CHECK_OK(effort_progress_step());
    long naps;
    CHECK(threads_named("effort", &naps) == 1);
    usleep(20000);
    exit(failures() != 0 ? 1 : 42);
  }
  if (strncmp(which, "exits_early", 11) == 0) { /* without finalize of anything: the exit code is the host's own */
    MPI_Barrier(MPI_COMM_WORLD);
    exit(failures() != 0 ? 1 : 42);
  }
  return 2;
}
