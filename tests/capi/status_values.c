/* Compiled only: the public headers in every promised language, and the values that are fixed forever. */
#include <effort/effort.h>
#ifdef TEST_EFFORT_INLINE
#include <effort/effort_inline.h>
#endif
#ifdef TEST_EFFORT_MPI
#include <effort/effort_mpi.h>
#endif
#ifdef TEST_EFFORT_HPP
#include <effort/effort.hpp>
#endif

#define PASTE(a, b) a##b
#define FIXED_AT(line, condition) typedef char PASTE(fixed_at_line_, line)[(condition) ? 1 : -1]
#define FIXED(name, value) FIXED_AT(__LINE__, (name) == (value))
#include "abi.h"

/* Every name of the contract, with its type. */
effort_status use_every_name(effort_config** config, effort_hint* hint, effort_rebalance_fn fn);
effort_status use_every_name(effort_config** config, effort_hint* hint, effort_rebalance_fn fn) {
  effort_region_id r = 0;
  effort_work_id w = 0;
  effort_metric_id m = 0;
  const char* text = effort_status_string(EFFORT_OK);
  text = effort_last_error();
  EFFORT_BEGIN("place");
  EFFORT_END("place");
  if (!text || effort_version() != EFFORT_VERSION || effort_config_new(config) ||
      effort_config_set(*config, "WINDOW", "10") || effort_init(*config) || effort_config_free(*config) ||
      effort_region("r", EFFORT_COMPUTE, &r) || effort_region_find("r", &r) || effort_begin(r) || effort_end(r) ||
      effort_add(r, 1.0) || effort_phase("p") || effort_work_unit("u", &w) || effort_work(w, 1.0) ||
      effort_metric_define("m", "s", &m) || effort_metric(m, 1.0) || effort_on_rebalance(fn, NULL) ||
      effort_progress_step() ||
#ifndef EFFORT_NO_SHORT_NAMES
      progress_step() ||
#endif
      effort_rebalance_begin() || effort_rebalance_end() || effort_hint_latest(hint) || effort_snapshot(NULL))
    return effort_finalize();
  return EFFORT_OK;
}
#ifdef EFFORT_NO_SHORT_NAMES
int progress_step(void);
int progress_step(void) { return 0; } /* the host may have one of its own */
#endif
