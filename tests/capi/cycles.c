/* cycles N: consecutive sessions.  The process holds the same resources after a few of them as after all. */
#define _GNU_SOURCE
#include "check.h"
#include "held.h"

#include <stdlib.h>

static int called(const effort_hint* h, void* calls) {
  ++*(int*)calls;
  return h->step % 2 == 0;
}

static void session(int number) {
  int32_t solve, cells, level;
  int calls = 0;
  effort_hint hint;
  CHECK_OK(effort_init(NULL));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  CHECK_OK(effort_work_unit("cells", &cells));
  CHECK_OK(effort_metric_define("level", "1", &level));
  CHECK_OK(effort_on_rebalance(called, &calls));
  for (int s = 0; s < 12; ++s) {
    CHECK_OK(effort_begin(solve));
    CHECK_OK(effort_work(cells, 1 + s % 3));
    CHECK_OK(effort_metric(level, number % 7));
    CHECK_OK(effort_end(solve));
    CHECK_OK(effort_add(solve, 1 + s % 3));
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_hint_latest(&hint));
  CHECK_OK(effort_finalize());
  CHECK(calls > 0);
}

int main(int argc, char** argv) {
  const int cycles = argc > 1 ? atoi(argv[1]) : 0;
  const char* dir = getenv("EFFORT_SNAPSHOT_DIR");
  struct Held before = held_now();
  if (cycles < 8 || !dir) return 2;
  emptied(dir);
  for (int n = 0; n < cycles && !failures(); ++n) {
    if (n == cycles / 4) before = held_now();
    session(n);
    CHECK(emptied(dir) == 1);
  }
  check_held_is(&before);
  return failures() != 0;
}
