/* sessions LEVEL: many sessions in one MPI run, each begun in a different way or over different ranks. */
#define _XOPEN_SOURCE 700
#include "mpi_check.h"
#include "snapshot_info.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Exported for adapters, declared in capi/src/attach.hpp. */
effort_status effort_adapter_begin(void);

static int rank, size, calls;
static double seen_load;

static int count(const effort_hint* h, void* user) {
  (void)user;
  ++calls;
  seen_load = h->load[h->rank];
  return 0;
}

static void steps(MPI_Comm comm, int n, double seconds) {
  int32_t solve;
  calls = 0;
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  CHECK_OK(effort_on_rebalance(count, NULL));
  for (int s = 0; s < n; ++s) {
    if (seconds > 0) CHECK_OK(effort_add(solve, seconds));
    CHECK_OK(effort_progress_step());
  }
  (void)comm;
}

/* Windows of 10 steps. */
static effort_status init_mpi(MPI_Comm comm) {
  static const char* const settings[] = {"WINDOW", "10", NULL};
  effort_config* config = config_of(settings);
  const effort_status status = effort_init_mpi(comm, config);
  effort_config_free(config);
  return status;
}

/* A session over `comm`; it sees the ranks of that communicator. */
static void session(MPI_Comm comm) {
  effort_hint h;
  CHECK_OK(init_mpi(comm));
  CHECK_FAILS(effort_init_mpi(comm, NULL), EFFORT_ERR_ALREADY_INITIALIZED, "effort_finalize");
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_ALREADY_INITIALIZED, "effort_finalize");
  steps(comm, 22, 0.5 + my_rank(comm));
  CHECK(calls == 2);
  CHECK_OK(effort_hint_latest(&h));
  CHECK(h.n_ranks == ranks_of(comm) && h.rank == my_rank(comm));
  for (int r = 0; r < h.n_ranks; ++r) CHECK_NEAR(h.load[r], 0.5 + r, 1e-5);
  CHECK_OK(effort_finalize());
}

static void bad_communicator(void) {
  CHECK_FAILS(effort_init_mpi(MPI_COMM_NULL, NULL), EFFORT_ERR_INVALID_ARGUMENT, "MPI_COMM_NULL");
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_NOT_INITIALIZED, NULL);
}

/* Two groups joined by a communicator that has no common order of ranks. */
static void intercommunicator(void) {
  MPI_Comm part, between;
  int64_t cost = 0;
  const double weight = 1;
  if (size < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 7, &between);
  CHECK_FAILS(effort_init_mpi(between, NULL), EFFORT_ERR_INVALID_ARGUMENT, "MPI_Intercomm_merge");
  CHECK_FAILS(effort_weights_integers_mpi(between, 1, &weight, 10, 0, &cost), EFFORT_ERR_MPI, "intercommunicator");
  MPI_Comm_free(&between);
  MPI_Comm_free(&part);
}

/* Ranks that call from different states all get an error that says so, and none waits. */
static void mixed_beginnings(void) {
  if (size < 2) return;
  if (rank == 0) CHECK_OK(effort_init(NULL));
  CHECK_FAILS(effort_init_mpi(MPI_COMM_WORLD, NULL), EFFORT_ERR_STATE, "different states");
  if (rank == 0) CHECK_OK(effort_finalize());
  if (rank == size - 1) setenv("EFFORT_DISABLE", "1", 1);
  CHECK_OK(effort_init(NULL));
  CHECK_FAILS(effort_init_mpi(MPI_COMM_WORLD, NULL), EFFORT_ERR_STATE, "DISABLE");
  CHECK_OK(effort_finalize());
  unsetenv("EFFORT_DISABLE");
}

static void parts_of_the_world(void) {
  MPI_Comm part;
  session(MPI_COMM_SELF);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part); /* two sessions beside each other, ranks in reverse */
  session(part);
  MPI_Comm_free(&part);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, 0, &part);
  if (part != MPI_COMM_NULL) {
    session(part);
    MPI_Comm_free(&part);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The communicator is duplicated: the host may free its own. */
static void freed_communicator(void) {
  MPI_Comm mine;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  CHECK_OK(init_mpi(mine));
  MPI_Comm_free(&mine);
  steps(MPI_COMM_WORLD, 12, 1.0);
  CHECK(calls == 1);
  CHECK_OK(effort_finalize());
}

/* effort_init first, the communicator later; regions known from before stay. */
static void attach_later(void) {
  int32_t early, again;
  CHECK_OK(effort_init(NULL));
  CHECK_OK(effort_region("early", EFFORT_COMPUTE, &early));
  CHECK_OK(init_mpi(MPI_COMM_WORLD));
  CHECK_OK(effort_region("early", EFFORT_COMPUTE, &again));
  CHECK(early == again);
  steps(MPI_COMM_WORLD, 12, 1.0);
  CHECK_OK(effort_finalize());
}

/* If it is too late on one rank, it is too late on all. */
static void attach_too_late(void) {
  CHECK_OK(effort_init(NULL));
  if (rank == size - 1) CHECK_OK(effort_progress_step());
  CHECK_FAILS(effort_init_mpi(MPI_COMM_WORLD, NULL), EFFORT_ERR_STATE, "before the first effort_progress_step");
  CHECK_OK(effort_progress_step()); /* the session of one process goes on */
  CHECK_OK(effort_finalize());
}

static void adapter_began(void) {
  int32_t from_adapter;
  CHECK_OK(effort_adapter_begin());
  CHECK_OK(effort_region("of the adapter", EFFORT_COMM, &from_adapter));
  CHECK_OK(init_mpi(MPI_COMM_WORLD));
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_ALREADY_INITIALIZED, NULL);
  steps(MPI_COMM_WORLD, 12, 1.0);
  CHECK(calls == 1);
  CHECK_OK(effort_finalize());
  CHECK_OK(effort_adapter_begin()); /* the host adopts it with effort_init, then attaches */
  CHECK_OK(effort_init(NULL));
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  steps(MPI_COMM_WORLD, 12, 1.0);
  CHECK(calls >= 1);
  CHECK_OK(effort_finalize());
}

/* Settings differ: rank 0's hold for all.  A bad setting on one rank: no rank begins. */
static void different_settings(void) {
  const char* settings[] = {"WINDOW", rank == 0 ? "4" : "9", NULL};
  effort_config* config = config_of(settings);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, config));
  steps(MPI_COMM_WORLD, 14, 1.0);
  CHECK(calls == 3); /* 5, 9, 13 */
  CHECK_OK(effort_finalize());
  CHECK_OK(effort_config_free(config));
  if (rank == size - 1) setenv("EFFORT_WINDOW", "nonsense", 1);
  CHECK_FAILS(effort_init_mpi(MPI_COMM_WORLD, NULL), EFFORT_ERR_CONFIG, rank == size - 1 ? "nonsense" : "another rank");
  unsetenv("EFFORT_WINDOW");
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_NOT_INITIALIZED, NULL);
}

static void rank_without_load(void) {
  effort_hint h;
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  steps(MPI_COMM_WORLD, 12, rank == 0 ? 0.0 : 2.0);
  CHECK_OK(effort_hint_latest(&h));
  CHECK(h.load[0] == 0 && (size == 1 || fabs(h.load[size - 1] - 2.0) < 1e-5));
  CHECK_NEAR(h.imbalance, size > 1 ? size / (size - 1.0) - 1 : 0.0, 1e-5);
  CHECK_OK(effort_finalize());
}

static void nothing_known(void) { /* no region anywhere, and no load */
  effort_hint h;
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  for (int s = 0; s < 12; ++s) CHECK_OK(effort_progress_step());
  CHECK_OK(effort_hint_latest(&h));
  CHECK(h.imbalance == 0 && h.rebalance == 0);
  CHECK_OK(effort_finalize());
}

/* A name of its own for this run's files, the same on all ranks; the directory is new. */
static const char* fresh_directory(void) {
  static char dir[300];
  if (rank == 0) {
    snprintf(dir, sizeof dir, "sessions-XXXXXX");
    CHECK(mkdtemp(dir) != NULL);
  }
  MPI_Bcast(dir, sizeof dir, MPI_BYTE, 0, MPI_COMM_WORLD);
  return dir;
}

static const char* snapshot_of_session(const char* dir) {
  char path[512];
  if (rank != 0) return "";
  CHECK(snapshots_in(dir, path, sizeof path) == 1);
  return info_json(path);
}

static void whole_snapshot(void) {
  const char* dir = fresh_directory();
  setenv("EFFORT_SNAPSHOT_DIR", dir, 1);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  steps(MPI_COMM_WORLD, 25, 1.0 + rank);
  CHECK_OK(effort_finalize());
  const char* json = snapshot_of_session(dir);
  if (rank != 0) return;
  CHECK(number_in(json, "", "ranks") == size && number_in(json, "", "steps") == 25);
  CHECK_NEAR(number_in(json, "\"name\":\"solve\"", "total"), 25.0 * size * (size + 1) / 2, 1e-3 * size);
}

/* The ranks selected by `refused` get no shared memory.  They become nodes of their own and report it. */
static void shared_memory_refused(int refused, int nodes) {
  const char* dir = fresh_directory();
  struct rlimit before, none;
  effort_hint h;
  setenv("EFFORT_SNAPSHOT_DIR", dir, 1);
  getrlimit(RLIMIT_FSIZE, &before);
  none = before;
  none.rlim_cur = 4096; /* bytes a file may have, those in /dev/shm too */
  signal(SIGXFSZ, SIG_IGN);
  if (refused) setrlimit(RLIMIT_FSIZE, &none);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  setrlimit(RLIMIT_FSIZE, &before);
  steps(MPI_COMM_WORLD, 12, 1.0 + rank);
  CHECK_OK(effort_hint_latest(&h));
  for (int r = 0; r < size; ++r) CHECK_NEAR(h.load[r], 1.0 + r, 1e-5);
  CHECK_OK(effort_finalize());
  const char* json = snapshot_of_session(dir);
  if (rank != 0) return;
  CHECK_NEAR(number_in(json, "", "nodes"), nodes, 0);
  CHECK(strstr(json, "shared memory was refused") != NULL);
}

/* A node whose ranks stop early ends the run for all: the common steps are kept, and the other ranks are released. */
static void different_lengths(void) {
  const char* dir = fresh_directory();
  effort_status status = EFFORT_OK;
  setenv("EFFORT_SNAPSHOT_DIR", dir, 1);
  setenv("EFFORT_RANKS_PER_NODE", "1", 1);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  unsetenv("EFFORT_RANKS_PER_NODE");
  steps(MPI_COMM_WORLD, 20, 1.0);
  for (int s = 20; rank == size - 1 && s < 45 && status == EFFORT_OK; ++s) status = effort_progress_step();
  CHECK(status == (rank == size - 1 ? EFFORT_ERR_SWITCHED_OFF : EFFORT_OK));
  CHECK_OK(effort_finalize());
  const char* json = snapshot_of_session(dir);
  if (rank != 0) return;
  CHECK_NEAR(number_in(json, "", "steps"), 20, 0);
  CHECK(strstr(json, "different numbers of steps, the fewest 20") != NULL);
}

/* One rank makes an extra progress step.  The report names this, and not the consequence that its later rebalance seems
 * to be bracketed by some ranks only. */
static void one_step_more(void) {
  const char* dir = fresh_directory();
  char said[64], unfinished[64];
  setenv("EFFORT_SNAPSHOT_DIR", dir, 1);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  for (int s = 0; s < 25; ++s) {
    if (s == 5 && rank == size - 1) CHECK_OK(effort_progress_step());
    if (s == 12) {
      CHECK_OK(effort_rebalance_begin());
      CHECK_OK(effort_rebalance_end());
    }
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_finalize());
  const char* json = snapshot_of_session(dir);
  if (rank != 0 || size < 3) return;
  /* The other nodes may be at their end before its last step, or its end, is known. */
  snprintf(said, sizeof said, "(most ranks 25, rank %d 26", size - 1);
  snprintf(unfinished, sizeof unfinished, "(most ranks 25, rank %d 25 or more)", size - 1);
  CHECK(strstr(json, "different numbers of steps, the fewest 25") != NULL);
  CHECK(strstr(json, said) != NULL || strstr(json, unfinished) != NULL);
  CHECK(strstr(json, "was bracketed by") == NULL);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  CHECK_FAILS(effort_init_mpi(MPI_COMM_WORLD, NULL), EFFORT_ERR_MPI, "call MPI_Init before");
  start_mpi(&argc, &argv, argv[1]);
  rank = my_rank(MPI_COMM_WORLD);
  size = ranks_of(MPI_COMM_WORLD);
  bad_communicator();
  intercommunicator();
  mixed_beginnings();
  session(MPI_COMM_WORLD);
  session(MPI_COMM_WORLD);
  parts_of_the_world();
  one_step_more();
  freed_communicator();
  attach_later();
  attach_too_late();
  adapter_began();
  different_settings();
  rank_without_load();
  nothing_known();
  whole_snapshot();
  unsetenv("EFFORT_RANKS_PER_NODE");
  if (size > 1) different_lengths();
  if (size > 1) shared_memory_refused(1, size);
  if (size > 2 && size % 2 == 0) { /* two nodes, the second one's leader is refused */
    char half[12];
    snprintf(half, sizeof half, "%d", size / 2);
    setenv("EFFORT_RANKS_PER_NODE", half, 1);
    shared_memory_refused(rank == size / 2, 1 + size / 2);
  }
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
