/* Sessions of one process: again after finalize, disabled, in a fork's child, left without finalize. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void steps(int n) {
  for (int s = 0; s < n; ++s) CHECK_OK(effort_progress_step());
}

static void marked_step(void) {
  EFFORT_BEGIN("marked by macros");
  EFFORT_END("marked by macros");
}

/* The macros keep ids per call site; ids of an earlier session must not be used in the present one. */
static void macros_across_sessions(void) {
  int32_t other, found;
  for (int session = 0; session < 3; ++session) {
    marked_step(); /* not initialized: a failed look-up is not remembered */
    CHECK_OK(effort_init(NULL));
    for (int i = 0; i < session; ++i) {
      char name[20];
      snprintf(name, sizeof name, "shift %d", i);
      CHECK_OK(effort_region(name, EFFORT_COMPUTE, &other));
    }
    marked_step();
    CHECK_OK(effort_region_find("marked by macros", &found));
    CHECK(found == session + 1);
    EFFORT_BEGIN("marked by macros");
    CHECK_OK(effort_end(found));
    CHECK_OK(effort_begin(found));
    EFFORT_END("marked by macros");
    CHECK_FAILS(effort_end(found), EFFORT_ERR_NESTING, "none open");
    CHECK_OK(effort_finalize());
  }
}

/* A named region that is registered with another kind is opened with that kind. */
static void macros_and_kinds(void) {
  int32_t wait;
  CHECK_OK(effort_init(NULL));
  CHECK_OK(effort_region("barrier", EFFORT_WAIT, &wait));
  EFFORT_BEGIN("barrier");
  CHECK_OK(effort_end(wait));
  CHECK_OK(effort_finalize());
}

static void many_sessions(void) {
  effort_hint hint;
  for (int session = 0; session < 10; ++session) {
    int32_t solve;
    CHECK_OK(effort_init(NULL));
    CHECK_FAILS(effort_hint_latest(&hint), EFFORT_ERR_NO_HINT, NULL);
    CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
    CHECK(solve == 1);
    for (int s = 0; s < 12; ++s) {
      CHECK_OK(effort_add(solve, 0.5 + session));
      CHECK_OK(effort_progress_step());
    }
    CHECK_OK(effort_hint_latest(&hint));
    CHECK_NEAR(hint.load[0], 0.5 + session, 1e-6);
    CHECK_OK(effort_finalize());
  }
  CHECK_OK(effort_init(NULL)); /* nothing but a session */
  CHECK_OK(effort_finalize());
}

/* A region left open at finalize belongs to its session only. */
static void open_at_finalize(void) {
  int32_t r;
  CHECK_OK(effort_init(NULL));
  CHECK_OK(effort_region("open", EFFORT_COMPUTE, &r));
  CHECK_OK(effort_begin(r));
  steps(3);
  CHECK_OK(effort_finalize());
  CHECK_OK(effort_init(NULL));
  CHECK_FAILS(effort_end(r), EFFORT_ERR_UNKNOWN_ID, NULL);
  CHECK_OK(effort_region("open", EFFORT_COMPUTE, &r));
  CHECK_FAILS(effort_end(r), EFFORT_ERR_NESTING, "none open");
  CHECK_OK(effort_finalize());
}

static void disabled(void) {
  int32_t id;
  effort_hint hint;
  setenv("EFFORT_DISABLE", "1", 1);
  CHECK_OK(effort_init(NULL));
  CHECK_OK(effort_region("r", EFFORT_COMPUTE, &id));
  CHECK_OK(effort_begin(id));
  CHECK_OK(effort_end(id));
  CHECK_OK(effort_end(77));
  CHECK_OK(effort_add(id, -1.0));
  CHECK_OK(effort_work(3, 1.0));
  marked_step();
  steps(30);
  CHECK_OK(effort_rebalance_begin());
  CHECK_OK(effort_rebalance_end());
  CHECK_OK(effort_snapshot(NULL));
  CHECK_FAILS(effort_hint_latest(&hint), EFFORT_ERR_NO_HINT, "DISABLE=1");
  CHECK_OK(effort_finalize());
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_NOT_INITIALIZED, NULL);
  unsetenv("EFFORT_DISABLE");
  CHECK_OK(effort_init(NULL));
  CHECK_FAILS(effort_begin(77), EFFORT_ERR_UNKNOWN_ID, NULL);
  CHECK_OK(effort_finalize());
}

/* Runs `body` in a child and gives its exit code; -1 if a signal ended it. */
static int exit_code_of(void (*body)(void)) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    body();
    exit(failures() != 0 ? 99 : 7); /* exit handlers and all */
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void forked_child(void) {
  int32_t id;
  CHECK_OK(effort_region("in the child", EFFORT_COMPUTE, &id));
  CHECK_OK(effort_begin(1));
  CHECK_OK(effort_end(1));
  CHECK_OK(effort_add(1, 1.0));
  marked_step();
  steps(25);
  CHECK_OK(effort_finalize());
}

/* The child of a fork is not part of the session: its calls do nothing, and the parent's session is unaffected. */
static void fork_inside_a_session(void) {
  int32_t r;
  effort_hint hint;
  CHECK_OK(effort_init(NULL));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &r));
  steps(15);
  CHECK_OK(effort_begin(r));
  CHECK(exit_code_of(forked_child) == 7);
  CHECK_OK(effort_end(r));
  /* A hint comes at the latest a hundred steps after the one before. */
  steps(110);
  CHECK_OK(effort_hint_latest(&hint));
  CHECK(hint.window_first > 15);
  CHECK_OK(effort_finalize());
}

/* A child that no handler of fork has prepared, as _Fork makes it, ends. */
static void bare_child_exits(void) {
  CHECK_OK(effort_init(NULL));
  steps(15);
  fflush(NULL);
  const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    alarm(30);
    exit(7);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  CHECK_OK(effort_finalize());
}

static void leaves_early(void) {
  int32_t r;
  CHECK_OK(effort_init(NULL));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &r));
  CHECK_OK(effort_begin(r));
  steps(25);
}

static void leaves_at_once(void) { CHECK_OK(effort_init(NULL)); }

static void returns_normally(void) {
  leaves_early();
  CHECK_OK(effort_finalize());
}

/* With a snapshot every few steps, and all that needs a file. */
static void begins_with_snapshots(void) {
  setenv("EFFORT_WINDOW", "5", 1);
  setenv("EFFORT_SNAPSHOT_EVERY", "5", 1);
  setenv("EFFORT_TRACE", "on", 1);
  setenv("EFFORT_METRICS", "time,rss", 1);
  CHECK_OK(effort_init(NULL));
}

static void leaves_while_snapshots_are_written(void) {
  begins_with_snapshots();
  steps(200);
}

static void finalize(void) { CHECK_OK(effort_finalize()); }

static void finalizes_in_an_exit_handler(void) {
  begins_with_snapshots();
  atexit(finalize);
  steps(200);
}

static void main_thread_leaves(void) {
  leaves_while_snapshots_are_written();
  pthread_exit(NULL);
}

/* Waits for the library to close what it has open for a moment. */
static int becomes_closed(int descriptor) {
  for (int i = 0; i < 1000; ++i) {
    const struct timespec pause = {0, 1000000};
    if (fcntl(descriptor, F_GETFD) == -1) return 1;
    nanosleep(&pause, NULL);
  }
  return 0;
}

/* The library's files never have the numbers of the standard streams. */
static void has_no_standard_streams(void) {
  for (int d = 0; d < 3; ++d) close(d);
  begins_with_snapshots();
  for (int s = 0; s < 5; ++s) {
    steps(10);
    for (int d = 0; d < 3; ++d) {
      if (!becomes_closed(d)) exit(98);
    }
  }
  CHECK_OK(effort_finalize());
  CHECK(fcntl(1, F_GETFD) == -1);
}

/* A host may close all descriptors and open its own files in their place, but not while a file is being written. */
static void closes_all_descriptors(void) {
  const struct timespec until_written = {3, 0};
  struct stat mine, now;
  begins_with_snapshots();
  steps(7);
  nanosleep(&until_written, NULL);
  for (int d = 3; d < 256; ++d) close(d);
  for (int d = 3; d < 256; ++d) CHECK(open("/dev/null", O_RDONLY) >= 0);
  CHECK(fstat(3, &mine) == 0);
  steps(7);
  CHECK_OK(effort_finalize());
  for (int d = 3; d < 256; ++d) CHECK(fstat(d, &now) == 0 && now.st_ino == mine.st_ino && now.st_dev == mine.st_dev);
}

static void in_a_folder_of_its_own(void (*body)(void), int code) {
  char command[80], *const folder = command + strlen("rm -rf ");
  snprintf(command, sizeof command, "rm -rf lifetime-%ld", (long)getpid()); /* two forms of this test may run at once */
  setenv("EFFORT_SNAPSHOT_DIR", folder, 1);
  CHECK(exit_code_of(body) == code);
  unsetenv("EFFORT_SNAPSHOT_DIR");
  CHECK(system(command) == 0);
}

/* A host that forgets finalize ends with its own exit code. */
static void early_exits(void) {
  for (int i = 0; i < 5; ++i) in_a_folder_of_its_own(leaves_while_snapshots_are_written, 7);
  in_a_folder_of_its_own(finalizes_in_an_exit_handler, 7);
  in_a_folder_of_its_own(main_thread_leaves, 0);
  in_a_folder_of_its_own(has_no_standard_streams, 7);
  in_a_folder_of_its_own(closes_all_descriptors, 7);
  CHECK(exit_code_of(leaves_early) == 7);
  CHECK(exit_code_of(leaves_at_once) == 7);
  CHECK(exit_code_of(returns_normally) == 7);
}

int main(void) {
  early_exits();
  macros_across_sessions();
  macros_and_kinds();
  many_sessions();
  open_at_finalize();
  disabled();
  fork_inside_a_session();
  bare_child_exits();
  return failures() != 0;
}
