/* A callback that is left by longjmp counts as failed.  Later calls work again, at any call depth, and the ranks stay
 * at the same step.  Calls from inside a callback are still refused. */
#ifdef TEST_MPI
#include "mpi_check.h"
#else
#include "check.h"
#endif

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf before_step;
static int calls, leave_every, step;

static int leaving(const effort_hint* hint, void* user) {
  (void)user;
  CHECK(hint->step == step);
  return ++calls % leave_every == 0 ? longjmp(before_step, 1), 0 : 0;
}

static effort_status init(void) {
#ifdef TEST_MPI
  return effort_init_mpi(MPI_COMM_WORLD, NULL);
#else
  return effort_init(NULL);
#endif
}

static void start(effort_rebalance_fn callback) {
  calls = step = 0;
  CHECK_OK(init());
  CHECK_OK(effort_on_rebalance(callback, NULL));
}

/* Calls `what` from `depth` frames of some size further down. */
static effort_status deeper(effort_status (*what)(void), int depth) {
  volatile char room[200];
  room[0] = room[199] = (char)depth;
  const effort_status status = depth > 0 ? deeper(what, depth - 1) : what();
  return room[0] == room[199] ? status : EFFORT_ERR_INTERNAL;
}

static effort_status take_step(void) { return effort_progress_step(); }
static effort_status snapshot(void) { return effort_snapshot(NULL); }
static effort_status finalize(void) { return effort_finalize(); }

/* How often a step was left. */
static int run(int steps, int depth_before, int depth_after) {
  volatile int left = 0;
  for (step = 0; step < steps; ++step) {
    effort_region_id solve;
    CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
    CHECK_OK(effort_add(solve, 1.0));
    if (setjmp(before_step) == 0)
      CHECK_OK(deeper(take_step, left % 2 ? depth_after : depth_before));
    else
      ++left;
  }
  return left;
}

/* On every second rank. */
static void leave(int odd, int depth_before, int depth_after, int depth_finalize) {
  leave_every = odd ? 3 : 1 << 30;
  start(leaving);
  const int left = run(60, depth_before, depth_after);
  CHECK(calls >= 6 && left == calls / leave_every);
  CHECK_OK(deeper(snapshot, depth_after));
  CHECK_OK(deeper(finalize, depth_finalize));
}

/* The next call is not a progress step. */
static void leave_last(int odd) {
  leave_every = odd ? 1 : 1 << 30;
  start(leaving);
  for (; calls == 0 && step < 60; ++step)
    if (setjmp(before_step) == 0) CHECK_OK(deeper(take_step, 1));
  CHECK_OK(deeper(finalize, odd ? 5 : 0));
}

#ifndef TEST_MPI
static void* leave_and_end(void* unused) {
  leave_every = 1;
  for (; calls == 0 && step < 60; ++step)
    if (setjmp(before_step) == 0) CHECK_OK(effort_progress_step());
  return unused;
}

/* Nobody can return to the callback of a thread that has ended. */
static void leave_in_thread_that_ends(void) {
  start(leaving);
  pthread_t thread;
  pthread_create(&thread, NULL, leave_and_end, NULL);
  pthread_join(thread, NULL);
  CHECK(calls == 1);
  leave_every = 1 << 30;
  for (; step < 60; ++step) CHECK_OK(effort_progress_step());
  CHECK(calls > 1);
  CHECK_OK(effort_finalize());
}
#endif

static int nested(const effort_hint* hint, void* user) {
  (void)hint;
  (void)user;
  ++calls;
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_CALLBACK, "from within");
  CHECK_FAILS(deeper(take_step, 20), EFFORT_ERR_CALLBACK, "from within");
  CHECK_FAILS(deeper(snapshot, 3), EFFORT_ERR_CALLBACK, "from within");
  CHECK_FAILS(deeper(finalize, 9), EFFORT_ERR_CALLBACK, "from within");
  CHECK_FAILS(deeper(init, 2), EFFORT_ERR_CALLBACK, "from within");
  return 0;
}

static void from_inside(void) {
  start(nested);
  run(20, 0, 4);
  CHECK(calls > 0);
  CHECK_OK(effort_finalize());
}

int main(int argc, char** argv) {
  int odd = 1;
#ifdef TEST_MPI
  start_mpi(&argc, &argv, "init");
  odd = my_rank(MPI_COMM_WORLD) % 2;
#else
  (void)argc;
  (void)argv;
#endif
  setenv("EFFORT_WINDOW", "5", 1);
  leave(odd, 0, 0, 0);
  leave(odd, 0, 7, 9);
  leave(odd, 7, 0, 2);
  leave(odd, 3, 5, 0);
  leave_last(odd);
  from_inside();
#ifndef TEST_MPI
  leave_in_thread_that_ends();
#endif
#ifdef TEST_MPI
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
#else
  return failures() != 0;
#endif
}
