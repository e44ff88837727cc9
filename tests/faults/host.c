/* host KEY=VALUE...: a small simulation that is exposed to a fault.  It is built with the library and, for comparison,
 * without it (ALONE).  Rank 0 prints "result" and a checksum that depends only on the numbers of ranks and steps.
 *
 *   level=none|init|funneled|serialized|multiple   without MPI, or how MPI is initialized
 *   steps=N snapshot=STEP                          a snapshot is requested at the end of STEP
 *   rank=R                                         the rank that has the fault; all ranks if it is omitted
 *   signal=NUMBER,PHASE,MICROSECONDS               a signal arrives this long after the beginning of a phase
 *   continue=MILLISECONDS                          SIGCONT follows after this time
 *   handle=1                                       signals have a handler, and interrupted calls fail with EINTR; it
 *                                                  adds a line to the file in the variable CAUGHT
 *   close=STREAMS                                  standard streams, such as 02, are closed before the library begins
 *   end=WAY                                        exit, quit, atexit or thread: see end_by()
 *   limit=NUMBER,VALUE,PHASE                       a resource limit; address space and descriptors beyond those in use
 *   wrong=WHAT                                     the host with the library misbehaves, which the campaign must find
 *   vanish=STEP                                    the directory in the variable VANISH is removed
 *
 * Phases: init, steps, callback, snapshot, finalize. */
#define _GNU_SOURCE
#include <mpi.h>
#ifndef ALONE
#include <effort/effort_mpi.h>
#define WITH_LIBRARY(...) __VA_ARGS__
#else
#define WITH_LIBRARY(...)
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { cells = 2000, sweeps = 160 };

static const char *level = "none", *wrong = "", *signal_phase = "", *limit_phase = "";
static int steps = 60, snapshot_at = -1, fault_rank = -1, vanish_at = -1, handle, signal_number, limit_number = -1;
static long signal_us, continue_ms, limit_value;
static int rank, size = 1;
static volatile sig_atomic_t caught;
static const char *caught_file, *streams = "", *way = "";
static FILE* out;

static void catch_it(int number) {
  const int error = errno, file = open(caught_file, O_WRONLY | O_CREAT | O_APPEND, 0666);
  (void)number;
  ++caught;
  if (file >= 0) {
    if (write(file, "caught\n", 7) != 7) _exit(4);
    close(file);
  }
  errno = error;
}

static void after(long microseconds, int number) {
  timer_t timer;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = number;
  const struct itimerspec when = {{0, 0}, {microseconds / 1000000, microseconds % 1000000 * 1000 + 1}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &when, NULL) != 0) perror("timer");
}

static long in_use(int what) {
  long n = 0;
  if (what == RLIMIT_AS) {
    FILE* f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &n) != 1) n = 0;
    if (f) fclose(f);
    n *= sysconf(_SC_PAGESIZE);
  } else if (what == RLIMIT_NOFILE) {
    while (fcntl((int)n, F_GETFD) >= 0) ++n;
  }
  return n;
}

static void set_limit(void) {
  struct rlimit limit;
  /* The superuser has no limit on threads. */
  if (limit_number == RLIMIT_NPROC && geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) perror("setresuid");
  getrlimit((__rlimit_resource_t)limit_number, &limit);
  limit.rlim_cur = (rlim_t)(in_use(limit_number) + limit_value);
  if (setrlimit((__rlimit_resource_t)limit_number, &limit) != 0) perror("setrlimit");
}

/* Causes the fault of a phase, once and only on the given rank. */
static void enter(const char* phase) {
  if (fault_rank >= 0 && fault_rank != rank) return;
  if (strcmp(phase, limit_phase) == 0) {
    limit_phase = "";
    set_limit();
  }
  if (strcmp(phase, signal_phase) == 0) {
    signal_phase = "";
    after(signal_us, signal_number);
    if (continue_ms > 0) after(signal_us + 1000 * continue_ms, SIGCONT);
  }
}

static void vanish(const char* directory) {
  DIR* d = opendir(directory);
  for (struct dirent* e = d ? readdir(d) : NULL; e; e = readdir(d)) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlink(path);
  }
  if (d) closedir(d);
  rmdir(directory);
}

static uint64_t mixed(uint64_t x) {
  x ^= x >> 31;
  return x * 0x9e3779b97f4a7c15u + 1;
}

/* A ring of cells over all ranks, each updated from its neighbours. Cells are integers, so the sum is exact. */
static void advance(uint64_t* now, uint64_t* next, MPI_Comm comm) {
  uint64_t left = now[cells - 1], right = now[0];
  if (size > 1) {
    const int before = (rank + size - 1) % size, behind = (rank + 1) % size;
    MPI_Sendrecv(&now[cells - 1], 1, MPI_UINT64_T, behind, 1, &left, 1, MPI_UINT64_T, before, 1, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now[0], 1, MPI_UINT64_T, before, 2, &right, 1, MPI_UINT64_T, behind, 2, comm, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < cells; ++i) {
    uint64_t x = now[i] + (i > 0 ? now[i - 1] : left) + 3 * (i + 1 < cells ? now[i + 1] : right);
    for (int s = 0; s < sweeps + 20 * rank; ++s) x = mixed(x);
    next[i] = x;
  }
}

/* A value that solvers agree on in every step, such as the largest residual. */
static void agree(uint64_t* residual, MPI_Comm comm) {
  if (size > 1) MPI_Allreduce(MPI_IN_PLACE, residual, 1, MPI_UINT64_T, MPI_MAX, comm);
}

#ifndef ALONE
static void leave(const char* directory, const char* name) {
  char path[700];
  snprintf(path, sizeof path, "%s/%s", directory ? directory : ".", name);
  FILE* f = fopen(path, "w");
  if (f) fclose(f);
}

static void do_wrong(uint64_t* result) {
  if (strcmp(wrong, "result") == 0) ++*result;
  if (strcmp(wrong, "exit") == 0) exit(3);
  if (strcmp(wrong, "hang") == 0) sleep(1000);
  if (strcmp(wrong, "late") == 0) sleep(10);
  if (strcmp(wrong, "caught") == 0) raise(SIGTERM);
  if (strcmp(wrong, "shm") == 0) leave("/dev/shm", "effort-left");
  if (strcmp(wrong, "tmp") == 0) leave(getenv("TMPDIR"), "effort-left");
  if (strcmp(wrong, "file") == 0) leave(".", ".a.part");
  if (strcmp(wrong, "snapshot") == 0) leave(".", "a.effort");
}

static int called(const effort_hint* hint, void* user) {
  (void)user;
  enter("callback");
  return hint->step % 3 == 0;
}
#endif

static void parse(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    char* value = strchr(argv[i], '=');
    if (!value) exit(2);
    *value++ = 0;
    char* comma = strchr(value, ',');
    char* last = strrchr(value, ',');
    const char* key = argv[i];
    if (strcmp(key, "level") == 0)
      level = value;
    else if (strcmp(key, "steps") == 0)
      steps = atoi(value);
    else if (strcmp(key, "snapshot") == 0)
      snapshot_at = atoi(value);
    else if (strcmp(key, "rank") == 0)
      fault_rank = atoi(value);
    else if (strcmp(key, "handle") == 0)
      handle = atoi(value);
    else if (strcmp(key, "continue") == 0)
      continue_ms = atol(value);
    else if (strcmp(key, "close") == 0)
      streams = value;
    else if (strcmp(key, "end") == 0)
      way = value;
    else if (strcmp(key, "wrong") == 0)
      wrong = value;
    else if (strcmp(key, "vanish") == 0)
      vanish_at = atoi(value);
    else if (strcmp(key, "signal") == 0 && comma && last != comma) {
      *comma = *last = 0;
      signal_number = atoi(value);
      signal_phase = comma + 1;
      signal_us = atol(last + 1);
    } else if (strcmp(key, "limit") == 0 && comma && last != comma) {
      *comma = *last = 0;
      limit_number = atoi(value);
      limit_value = atol(comma + 1);
      limit_phase = last + 1;
    } else
      exit(2);
  }
}

static void start(int* argc, char*** argv) {
  int given;
  if (strcmp(level, "none") == 0) return;
  if (strcmp(level, "init") == 0)
    MPI_Init(argc, argv);
  else
    MPI_Init_thread(argc, argv,
                    strcmp(level, "multiple") == 0     ? MPI_THREAD_MULTIPLE
                    : strcmp(level, "serialized") == 0 ? MPI_THREAD_SERIALIZED
                                                       : MPI_THREAD_FUNNELED,
                    &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static void handlers(void) {
  static const int numbers[] = {SIGTERM, SIGINT, SIGXFSZ, SIGPIPE, SIGUSR1, SIGCONT};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = catch_it;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) sigaction(numbers[i], &action, NULL);
}

/* Closes standard streams.  The result goes to a copy of stdout with a high number. */
static void close_streams(void) {
  if (!*streams) return;
  out = fdopen(fcntl(STDOUT_FILENO, F_DUPFD, 100), "w");
  if (!out) exit(6);
  for (const char* s = streams; *s; ++s) close(*s - '0');
}

/* Whether a file of somebody else keeps the number of a closed stream.  Any file has it while it is being opened. */
static int is_taken(int stream) {
  for (int i = 0; i < 100; ++i, usleep(1000))
    if (fcntl(stream, F_GETFD) < 0) return 0;
  return 1;
}

static void finish(void) {
  WITH_LIBRARY(effort_finalize();)
  if (strcmp(level, "none") != 0) MPI_Finalize();
}

/* Ends the host in an unusual way, if it has one: it calls exit without effort_finalize (exit), and without
 * MPI_Finalize either (quit), finalizes both in an exit handler (atexit), or its main thread ends (thread). */
static void end_by(void) {
  /* mpiexec kills the other ranks as soon as one has quit, also rank 0 before it has printed the result. */
  if (strcmp(way, "quit") == 0 && strcmp(level, "none") != 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(way, "quit") == 0 || strcmp(way, "atexit") == 0) exit(0);
  if (strcmp(way, "exit") != 0 && strcmp(way, "thread") != 0) return;
  if (strcmp(level, "none") != 0) MPI_Finalize();
  if (strcmp(way, "exit") == 0) exit(0);
  pthread_exit(NULL);
}

int main(int argc, char** argv) {
  static uint64_t field[2][cells];
  uint64_t sum = 0, all = 0;
  int signals = 0, with_mpi;
  parse(argc, argv);
  out = stdout;
  caught_file = getenv("CAUGHT") ? getenv("CAUGHT") : "/dev/null";
  if (handle) handlers(); /* a preloaded library begins in MPI_Init */
  start(&argc, &argv);
  with_mpi = strcmp(level, "none") != 0;
  WITH_LIBRARY(if (strcmp(wrong, "outlives") == 0 || strcmp(wrong, "ignores") == 0) signal(SIGTERM, SIG_IGN);)
  for (int i = 0; i < cells; ++i) field[0][i] = (uint64_t)(rank * cells + i);
  if (with_mpi) { /* makes all connections before anything is limited */
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    advance(field[0], field[1], MPI_COMM_WORLD);
  }

  close_streams();
  if (strcmp(way, "atexit") == 0 && atexit(finish) != 0) return 6;

  enter("init");
  WITH_LIBRARY(const int begun = with_mpi ? effort_init_mpi(MPI_COMM_WORLD, NULL) : effort_init(NULL);
               int32_t solve = -1, halo = -1, work = -1; effort_region("solve", EFFORT_COMPUTE, &solve);
               effort_region("halo", EFFORT_COMM, &halo); effort_work_unit("cells", &work);
               effort_on_rebalance(called, NULL);)
  enter("steps");
  for (int s = 0; s < steps; ++s) {
    WITH_LIBRARY(effort_begin(solve); effort_work(work, cells * (1 + s % 4));)
    advance(field[s % 2], field[1 - s % 2], MPI_COMM_WORLD);
    uint64_t residual = field[1 - s % 2][0];
    agree(&residual, MPI_COMM_WORLD);
    sum = mixed(sum + residual);
    WITH_LIBRARY(effort_end(solve); effort_progress_step();)
    if (s == steps / 3) enter("callback"); /* if no callback has come before */
    if (s == vanish_at && rank == 0 && getenv("VANISH")) vanish(getenv("VANISH"));
    if (s == snapshot_at) {
      enter("snapshot");
      WITH_LIBRARY(effort_snapshot(NULL);)
    }
  }
  enter("finalize");
  WITH_LIBRARY(const int ended = *way ? 0 : effort_finalize(); do_wrong(&field[steps % 2][0]);)

  for (int i = 0; i < cells; ++i) sum += mixed(field[steps % 2][i] + (uint64_t)i);
  all = sum;
  signals = caught;
  if (with_mpi) {
    const int mine = signals;
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &signals, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    fprintf(out, "result %016llx\ncaught %d\n", (unsigned long long)all, signals);
    WITH_LIBRARY(fprintf(out, "library %d %d\n", begun, ended);)
    fflush(out);
  }
  for (const char* s = streams; *s; ++s)
    if (is_taken(*s - '0')) return 5;
  end_by();
  if (with_mpi) MPI_Finalize();
  return 0;
}
