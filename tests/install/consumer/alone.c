/* One process without MPI. */
#include <effort/effort.h>

int main(void) {
  effort_hint hint;
  if (effort_init(NULL) != EFFORT_OK) return 1;
  for (int step = 0; step < 15; ++step)
    if (progress_step() != EFFORT_OK) return 2;
  if (effort_hint_latest(&hint) != EFFORT_OK || hint.n_ranks != 1) return 3;
  return effort_finalize() != EFFORT_OK;
}
