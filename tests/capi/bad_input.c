/* Bad input returns a clear code and a message that names the problem.  The host is unharmed and nothing is lost. */
#include "check.h"

#include <stdlib.h>

static char* name_of(size_t length) {
  char* name = malloc(length + 1);
  memset(name, 'n', length);
  name[length] = '\0';
  return name;
}

static void before_init_and_after_finalize(void) {
  int32_t id = 7;
  effort_hint hint;
  CHECK_FAILS(effort_region("a", EFFORT_COMPUTE, &id), EFFORT_ERR_NOT_INITIALIZED, "effort_init");
  CHECK(id == -1);
  CHECK_FAILS(effort_region_find("a", &id), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_begin(1), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_end(1), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_add(1, 1.0), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_phase("p"), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_work_unit("cells", &id), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_work(0, 1.0), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_metric_define("m", "", &id), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_metric(0, 1.0), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(progress_step(), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_on_rebalance(NULL, NULL), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_rebalance_begin(), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_rebalance_end(), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_hint_latest(&hint), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_snapshot(NULL), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
  CHECK_FAILS(effort_finalize(), EFFORT_ERR_NOT_INITIALIZED, "not initialized");
}

static void null_pointers(void) {
  int32_t id;
  effort_config* config = NULL;
  CHECK_FAILS(effort_region("a", EFFORT_COMPUTE, NULL), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_region(NULL, EFFORT_COMPUTE, &id), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_region_find(NULL, &id), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_region_find("a", NULL), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_phase(NULL), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_work_unit(NULL, &id), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_work_unit("cells", NULL), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_metric_define(NULL, "", &id), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_metric_define("m", "", NULL), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_hint_latest(NULL), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_begin_named("a", NULL), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_end_named("a", NULL), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_config_new(NULL), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_config_set(NULL, "WINDOW", "5"), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_OK(effort_config_new(&config));
  CHECK_FAILS(effort_config_set(config, NULL, "5"), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_FAILS(effort_config_set(config, "WINDOW", NULL), EFFORT_ERR_INVALID_ARGUMENT, "null pointer");
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_config_free(NULL));
  CHECK_OK(effort_metric_define("no unit", NULL, &id));
}

static void names(void) {
  int32_t id;
  char* longest = name_of(EFFORT_MAX_NAME);
  char* longer = name_of(EFFORT_MAX_NAME + 1);
  char* huge = name_of(10000);
  CHECK_FAILS(effort_region("", EFFORT_COMPUTE, &id), EFFORT_ERR_INVALID_ARGUMENT, "empty");
  CHECK_FAILS(effort_region(huge, EFFORT_COMPUTE, &id), EFFORT_ERR_INVALID_ARGUMENT, "1023");
  CHECK_FAILS(effort_region(longer, EFFORT_COMPUTE, &id), EFFORT_ERR_INVALID_ARGUMENT, "longer");
  CHECK_FAILS(effort_region("two\nlines", EFFORT_COMPUTE, &id), EFFORT_ERR_INVALID_ARGUMENT, "byte 3");
  CHECK_FAILS(effort_phase(""), EFFORT_ERR_INVALID_ARGUMENT, "phase name is empty");
  CHECK_FAILS(effort_phase(huge), EFFORT_ERR_INVALID_ARGUMENT, "phase");
  CHECK_FAILS(effort_work_unit("", &id), EFFORT_ERR_INVALID_ARGUMENT, "work unit name is empty");
  CHECK_FAILS(effort_metric_define("a\rb", "", &id), EFFORT_ERR_INVALID_ARGUMENT, "metric");
  CHECK_FAILS(effort_metric_define("fine", "a\nb", &id), EFFORT_ERR_INVALID_ARGUMENT, "unit");
  CHECK_OK(effort_region(longest, EFFORT_COMPUTE, &id));
  CHECK_OK(effort_begin(id));
  CHECK_OK(effort_end(id));
  free(longest);
  free(longer);
  free(huge);
}

static void ids_and_kinds(void) {
  int32_t a, again, m;
  CHECK_OK(effort_region("a", EFFORT_COMPUTE, &a));
  CHECK_OK(effort_region("a", EFFORT_COMPUTE, &again));
  CHECK(a == again);
  CHECK_FAILS(effort_region("a", EFFORT_WAIT, &again), EFFORT_ERR_CONFLICT, "'a'");
  CHECK(a == again);
  CHECK_FAILS(effort_region("b", (effort_kind)9, &again), EFFORT_ERR_INVALID_ARGUMENT, "kind 9");
  CHECK_FAILS(effort_region_find("nobody", &again), EFFORT_ERR_UNKNOWN_ID, "'nobody'");
  CHECK(again == -1);
  const int32_t bad[] = {-1, 0, a + 1000, 123456, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    char text[20];
    snprintf(text, sizeof text, "%ld", (long)bad[i]);
    CHECK_FAILS(effort_begin(bad[i]), EFFORT_ERR_UNKNOWN_ID, text);
    CHECK_FAILS(effort_end(bad[i]), EFFORT_ERR_UNKNOWN_ID, text);
    CHECK_FAILS(effort_add(bad[i], 1.0), EFFORT_ERR_UNKNOWN_ID, text);
  }
  CHECK_FAILS(effort_work(17, 1.0), EFFORT_ERR_UNKNOWN_ID, "17");
  CHECK_FAILS(effort_work(-1, 1.0), EFFORT_ERR_UNKNOWN_ID, "-1");
  /* Metrics that the library measures itself also have an id. */
  CHECK_FAILS(effort_metric(0, 1.0), EFFORT_ERR_UNKNOWN_ID, "0");
  CHECK_FAILS(effort_metric(1, 1.0), EFFORT_ERR_UNKNOWN_ID, "1");
  CHECK_FAILS(effort_metric_define("time", "s", &m), EFFORT_ERR_CONFLICT, "'time'");
  CHECK_FAILS(effort_metric(m, 1.0), EFFORT_ERR_UNKNOWN_ID, "-1");
  CHECK_FAILS(effort_metric_define("page_faults", "1", &m), EFFORT_ERR_CONFLICT, "'page_faults'");
  CHECK_FAILS(effort_metric(31, 1.0), EFFORT_ERR_UNKNOWN_ID, "31");
  CHECK_FAILS(effort_metric(-1, 1.0), EFFORT_ERR_UNKNOWN_ID, "-1");
  CHECK_OK(effort_metric_define("flops", "1", &m));
  CHECK_FAILS(effort_metric_define("flops", "s", &again), EFFORT_ERR_CONFLICT, "'flops'");
  CHECK(m == again);
  CHECK_OK(effort_metric(m, 1.0));
  CHECK_FAILS(effort_metric(m + 1, 1.0), EFFORT_ERR_UNKNOWN_ID, "was never returned");
}

static void nesting(void) {
  int32_t outer, inner;
  CHECK_OK(effort_region("outer", EFFORT_COMPUTE, &outer));
  CHECK_OK(effort_region("inner", EFFORT_COMPUTE, &inner));
  CHECK_FAILS(effort_end(outer), EFFORT_ERR_NESTING, "'outer'");
  CHECK_OK(effort_begin(outer));
  CHECK_FAILS(effort_end(inner), EFFORT_ERR_NESTING, "'outer' is the innermost");
  CHECK_OK(effort_begin(inner));
  CHECK_FAILS(effort_end(outer), EFFORT_ERR_NESTING, "'inner'");
  CHECK_OK(effort_end(inner));
  CHECK_OK(effort_end(outer));
  CHECK_FAILS(effort_rebalance_end(), EFFORT_ERR_NESTING, "effort_rebalance_begin");
  CHECK_OK(effort_rebalance_begin());
  CHECK_FAILS(effort_rebalance_begin(), EFFORT_ERR_NESTING, "twice");
  CHECK_OK(effort_rebalance_end());
  /* As deep as allowed, one deeper, and back without a trace. */
  for (int i = 0; i < EFFORT_MAX_DEPTH; ++i) CHECK_OK(effort_begin(outer));
  CHECK_FAILS(effort_begin(inner), EFFORT_ERR_LIMIT, "128");
  for (int i = 0; i < EFFORT_MAX_DEPTH; ++i) CHECK_OK(effort_end(outer));
  CHECK_FAILS(effort_end(outer), EFFORT_ERR_NESTING, "none open");
}

/* Hosts print messages to terminals, which a name must not control. */
static void names_in_messages(void) {
  int32_t region;
  CHECK_OK(effort_region("\xc2\x9b\xe2\x80\xaeheat\xff", EFFORT_COMPUTE, &region));
  CHECK_FAILS(effort_end(region), EFFORT_ERR_NESTING, "'\\u009b\\u202eheat\\xff'");
  CHECK(strpbrk(effort_last_error(), "\xc2\xe2\xff") == NULL);
}

static void amounts(void) {
  const double bad[] = {NAN, -1.0, -1e-300, INFINITY, -INFINITY, 1.1e100, 1e308};
  int32_t region, unit, metric;
  CHECK_OK(effort_region("amounts", EFFORT_COMPUTE, &region));
  CHECK_OK(effort_work_unit("cells", &unit));
  CHECK_OK(effort_metric_define("bytes", "B", &metric));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    CHECK_FAILS(effort_add(region, bad[i]), EFFORT_ERR_INVALID_ARGUMENT,
                "seconds must be finite, not negative and at most 1e+06");
    CHECK_FAILS(effort_work(unit, bad[i]), EFFORT_ERR_INVALID_ARGUMENT, "amount of work must be finite");
    CHECK_FAILS(effort_metric(metric, bad[i]), EFFORT_ERR_INVALID_ARGUMENT, "metric must be finite");
  }
  CHECK_OK(effort_add(region, 0.0));
  CHECK_OK(effort_work(unit, 0.0));
  CHECK_OK(effort_metric(metric, 0.0));
}

/* The largest accepted amounts do not harm those of later steps.  Nanoseconds given as seconds are refused. */
static void huge_amounts(void) {
  int32_t region, unit, metric;
  effort_hint hint;
  CHECK_OK(effort_region("amounts", EFFORT_COMPUTE, &region));
  CHECK_OK(effort_work_unit("cells", &unit));
  CHECK_OK(effort_metric_define("bytes", "B", &metric));
  CHECK_FAILS(effort_add(region, 5e9), EFFORT_ERR_INVALID_ARGUMENT, "5e+09");
  for (int i = 0; i < 100; ++i) {
    CHECK_OK(effort_add(region, 1e6));
    CHECK_OK(effort_work(unit, 1e100));
    CHECK_OK(effort_metric(metric, 1e100));
  }
  CHECK_OK(effort_progress_step());
  for (int s = 0; s < 40; ++s) {
    CHECK_OK(effort_add(region, 0.25));
    CHECK_OK(effort_work(unit, 3.0));
    CHECK_OK(effort_metric(metric, 1e100));
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_hint_latest(&hint));
  CHECK_NEAR(hint.load[0], 0.25, 1e-3);
}

static void limits(void) {
  int32_t id = 0, first = 0;
  char name[32];
  long known = 0;
  for (int i = 0; i < 100000; ++i) {
    snprintf(name, sizeof name, "region %d", i);
    const effort_status status = effort_region(name, EFFORT_COMPUTE, &id);
    if (status == EFFORT_OK) {
      ++known;
      if (i == 0) first = id;
    } else if (!CHECK_FAILS(status, EFFORT_ERR_LIMIT, "16383") || !CHECK(id == -1)) {
      break;
    }
  }
  CHECK(known > 16000 && known <= EFFORT_MAX_REGIONS);
  for (int i = 0; i < 40; ++i) {
    snprintf(name, sizeof name, "thing %d", i);
    const effort_status unit = effort_work_unit(name, &id);
    if (unit != EFFORT_OK) CHECK_FAILS(unit, EFFORT_ERR_LIMIT, "32 work units");
    const effort_status metric = effort_metric_define(name, "", &id);
    if (metric != EFFORT_OK) CHECK_FAILS(metric, EFFORT_ERR_LIMIT, "32 metrics");
    if (i == 39) CHECK(unit == EFFORT_ERR_LIMIT && metric == EFFORT_ERR_LIMIT);
  }
  /* Existing definitions keep working.  So many definitions fill the ring, so that the first steps are merged; in a
   * later window, steps are separate again. */
  for (int s = 0; s < 32; ++s) {
    CHECK_OK(effort_add(first, 0.001));
    CHECK_OK(effort_progress_step());
  }
  effort_hint hint;
  CHECK_OK(effort_hint_latest(&hint));
  CHECK_NEAR(hint.load[0], 0.001, 1e-8);
  CHECK(hint.n_regions > 0);
}

static void two_inits(void) { CHECK_FAILS(effort_init(NULL), EFFORT_ERR_ALREADY_INITIALIZED, "effort_finalize"); }

static void messages(void) {
  for (int s = -30; s < 3; ++s)
    CHECK(effort_status_string((effort_status)s) != NULL && effort_status_string((effort_status)s)[0] != '\0');
  CHECK(effort_last_error() != NULL);
  CHECK(effort_version() == EFFORT_VERSION);
}

static void in_a_session(void (*test)(void)) {
  if (!CHECK_OK(effort_init(NULL))) return;
  test();
  CHECK_OK(effort_finalize());
}

int main(void) {
  CHECK(effort_last_error()[0] == '\0');
  before_init_and_after_finalize();
  in_a_session(null_pointers);
  in_a_session(names);
  in_a_session(ids_and_kinds);
  in_a_session(nesting);
  in_a_session(names_in_messages);
  in_a_session(amounts);
  in_a_session(huge_amounts);
  in_a_session(two_inits);
  in_a_session(limits);
  before_init_and_after_finalize();
  messages();
  return failures() != 0;
}
