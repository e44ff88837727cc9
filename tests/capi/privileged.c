/* A host that may have more rights than its user: its session writes one snapshot into the working directory.  Exit
 * code 3: it has no more rights. */
#include "check.h"

#include <sys/auxv.h>

int main(void) {
  effort_config* config;
  effort_region_id solve;
  if (!getauxval(AT_SECURE)) return 3;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "METRICS", "time,PAPI_TOT_INS"));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  for (int s = 0; s < 3; ++s) {
    CHECK_OK(effort_add(solve, 1.0));
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_finalize());
  return failures() != 0;
}
