/* limits LEVEL: a host whose files may not grow (ulimit -f), and whose stderr is a pipe without a reader.  The signals
 * of such writes do not reach the host, its handlers stay, and nothing is left in /dev/shm. */
#include "mpi_check.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile sig_atomic_t signals;
static void count(int signal) {
  (void)signal;
  ++signals;
}

static void handlers(void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigaction(SIGXFSZ, &action, NULL);
  sigaction(SIGPIPE, &action, NULL);
}

static void signals_are_as_before(void (*handler)(int)) {
  sigset_t now;
  struct sigaction action;
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  CHECK(!sigismember(&now, SIGXFSZ) && !sigismember(&now, SIGPIPE));
  sigaction(SIGXFSZ, NULL, &action);
  CHECK(action.sa_handler == handler);
  sigaction(SIGPIPE, NULL, &action);
  CHECK(action.sa_handler == handler);
}

static rlim_t limit_files(rlim_t bytes) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &limit);
  return before;
}

/* Segments in /dev/shm that this process has made. */
static int segments(void) {
  char mine[64];
  int n = 0;
  snprintf(mine, sizeof mine, "effort-%u-%d-", (unsigned)getuid(), (int)getpid());
  DIR* dir = opendir("/dev/shm");
  if (!dir) return 0;
  for (struct dirent* e = readdir(dir); e; e = readdir(dir)) n += strncmp(e->d_name, mine, strlen(mine)) == 0;
  closedir(dir);
  return n;
}

/* Whether this process shares memory that has never had a name. */
static int shares_unnamed(void) {
  char line[512];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, "/memfd:effort") != NULL;
  if (maps) fclose(maps);
  return found;
}

/* The status of finalize.  `room`: for shared memory. */
static effort_status session(int room) {
  int32_t solve;
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, NULL));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  for (int s = 0; s < 25; ++s) {
    CHECK_OK(effort_add(solve, 1.0));
    CHECK_OK(effort_progress_step());
  }
  CHECK(shares_unnamed() == room);
  return effort_finalize();
}

static void no_room(void) {
  const rlim_t before = limit_files(16);
  const effort_status status = session(0);
  limit_files(before);
  CHECK(status == EFFORT_ERR_IO);
  CHECK(segments() == 0);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  start_mpi(&argc, &argv, argv[1]);
  char report[64];
  snprintf(report, sizeof report, "limits_report_%s.txt", argv[1]);
  setenv("EFFORT_REPORT", report, 1);

  handlers(count);
  no_room();
  signals_are_as_before(count);
  CHECK(signals == 0);
  handlers(SIG_DFL);
  no_room();
  signals_are_as_before(SIG_DFL);

  /* One that was pending before still is. */
  sigset_t file_size, pending;
  sigemptyset(&file_size);
  sigaddset(&file_size, SIGXFSZ);
  handlers(count);
  pthread_sigmask(SIG_BLOCK, &file_size, NULL);
  pthread_kill(pthread_self(), SIGXFSZ);
  no_room();
  sigpending(&pending);
  CHECK(signals == 0 && sigismember(&pending, SIGXFSZ));
  pthread_sigmask(SIG_UNBLOCK, &file_size, NULL);
  CHECK(signals == 1);
  handlers(SIG_DFL);

  /* The summary, notes under VERBOSE and errors go to a stream that is not read. */
  setenv("EFFORT_REPORT", "summary", 1);
  setenv("EFFORT_VERBOSE", "1", 1);
  setenv("EFFORT_NO_SUCH_SETTING", "1", 1);
  int ends[2];
  const int usual = dup(STDERR_FILENO);
  CHECK(pipe(ends) == 0);
  close(ends[0]);
  dup2(ends[1], STDERR_FILENO);
  const effort_status status = session(1);
  CHECK(!shares_unnamed());
  dup2(usual, STDERR_FILENO);
  close(usual);
  close(ends[1]);
  clearerr(stderr);
  CHECK(status == EFFORT_OK);
  signals_are_as_before(SIG_DFL);

  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
