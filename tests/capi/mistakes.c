/* Mistakes of a host that its run survives: the snapshot's notes, or stderr under VERBOSE, name each of them. */
#define _GNU_SOURCE
#include "snapshot_info.h"

#include <fcntl.h>
#include <unistd.h>

enum { steps = 20, faulty_step = 7 };

static effort_region_id solve, halo;

struct host {
  const char* directory; /* for its snapshot */
  const char *key, *value;
  void (*in_step)(int step);
  effort_rebalance_fn callback;
};

static int fails(const effort_hint* hint, void* user) {
  (void)hint;
  (void)user;
  return -3;
}

static void does_nothing(int step) { (void)step; }
static void computes(int step) {
  (void)step;
  CHECK_OK(effort_add(solve, 0.25));
}
static void forgets_an_end(int step) {
  computes(step);
  if (step == faulty_step) CHECK_OK(effort_begin(solve));
}
static void ends_every_region(int step) {
  computes(step);
  CHECK_OK(effort_begin(solve));
  CHECK_OK(effort_end(solve));
}
static void forgets_a_rebalance_end(int step) {
  computes(step);
  if (step == faulty_step) CHECK_OK(effort_rebalance_begin());
}

/* Runs the host and returns what effort info prints. */
static const char* info_of(struct host host, int region_around) {
  static char path[512];
  effort_config* config = NULL;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "SNAPSHOT_DIR", host.directory));
  CHECK_OK(effort_config_set(config, "WINDOW", "5"));
  if (host.key) CHECK_OK(effort_config_set(config, host.key, host.value));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  CHECK_OK(effort_region("halo", EFFORT_COMM, &halo));
  if (host.callback) CHECK_OK(effort_on_rebalance(host.callback, NULL));
  if (region_around) CHECK_OK(effort_begin(halo));
  for (int step = 0; step < steps; ++step) {
    host.in_step(step);
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_begin(halo)); /* around the end */
  CHECK_OK(effort_finalize());
  CHECK(snapshots_in(host.directory, path, sizeof path) == 1);
  return info_json(path);
}

static const char open_region[] = "region 'solve' was begun during the run and was still open at its end",
                  open_rebalance[] = "a rebalance was begun and never ended",
                  no_load[] = "no rank spent any time in a COMPUTE region",
                  failed_callback[] =
                      "the rebalance callback failed with -3 at step 6, and 2 more times, the last at step 16",
                  absent_rank[] = "rank 7 is pinned for the trace, but the run has only 1 rank";

/* Exactly the notes that are wanted, of those above. */
static void check_notes(const char* json, const char* wanted) {
  static const char* const all[] = {open_region, open_rebalance, no_load, failed_callback, absent_rank};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    if (!CHECK((strstr(json, all[i]) != NULL) == (all[i] == wanted)))
      fprintf(stderr, "  note: %s; wanted: %s\n", all[i], wanted ? wanted : "none");
}

/* What the library says on stderr. */
static const char* stderr_of(void (*run)(void)) {
  static char text[4096];
  const int file = open("said", O_RDWR | O_CREAT | O_TRUNC, 0600), before = dup(2);
  CHECK(file >= 0 && before >= 0);
  fflush(stderr);
  dup2(file, 2);
  run();
  fflush(stderr);
  dup2(before, 2);
  close(before);
  const ssize_t n = pread(file, text, sizeof text - 1, 0);
  text[n > 0 ? n : 0] = '\0';
  close(file);
  return text;
}

static const char* dir = "no-steps";
static void never_steps(void) {
  effort_config* config = NULL;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "SNAPSHOT_DIR", dir));
  CHECK_OK(effort_config_set(config, "VERBOSE", "1"));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_finalize());
}
static void loses_its_snapshot(void) {
  effort_config* config = NULL;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "SNAPSHOT_DIR", "said")); /* a file */
  CHECK_OK(effort_config_set(config, "VERBOSE", "1"));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  CHECK_OK(effort_add(solve, 1));
  CHECK_OK(effort_progress_step());
  CHECK(effort_finalize() == EFFORT_ERR_IO);
}

int main(void) {
  char scratch[] = "mistakes-XXXXXX";
  unsetenv("EFFORT_SNAPSHOT_DIR"); /* it would override the hosts' directories */
  if (!CHECK(mkdtemp(scratch) != NULL) || !CHECK(chdir(scratch) == 0)) return 1;
  check_notes(info_of((struct host){"right", NULL, NULL, ends_every_region, NULL}, 0), NULL);
  check_notes(info_of((struct host){"around", NULL, NULL, ends_every_region, NULL}, 1), NULL);
  check_notes(info_of((struct host){"region", NULL, NULL, forgets_an_end, NULL}, 0), open_region);
  check_notes(info_of((struct host){"rebalance", NULL, NULL, forgets_a_rebalance_end, NULL}, 0), open_rebalance);
  check_notes(info_of((struct host){"load", NULL, NULL, does_nothing, NULL}, 0), no_load);
  check_notes(info_of((struct host){"callback", NULL, NULL, computes, fails}, 0), failed_callback);
  check_notes(info_of((struct host){"pin", "TRACE_PIN", "7", computes, NULL}, 0), NULL);
  setenv("EFFORT_TRACE", "on", 1);
  check_notes(info_of((struct host){"pin-on", "TRACE_PIN", "7", computes, NULL}, 0), absent_rank);
  unsetenv("EFFORT_TRACE");
  CHECK(strstr(stderr_of(never_steps), "effort: effort_progress_step was never called"));
  CHECK(snapshots_in(dir, NULL, 0) <= 0);
  setenv("EFFORT_REPORT", "report.txt", 1);
  CHECK(strstr(stderr_of(never_steps), "never called") == NULL);
  unsetenv("EFFORT_REPORT");
  char report[256] = "";
  FILE* file = fopen("report.txt", "r");
  if (CHECK(file != NULL)) {
    CHECK(fgets(report, sizeof report, file) != NULL);
    fclose(file);
  }
  CHECK(strstr(report, "effort_progress_step was never called"));
  CHECK(strstr(stderr_of(loses_its_snapshot), "effort: a snapshot was lost: "));
  return failures() != 0;
}
