/* Snapshots are written, complete and readable by the command; failures to write them are reported. */
#define _GNU_SOURCE
#include "snapshot_info.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int32_t solve, halo, flops;

/* A slow disc: a write cannot finish while another thread holds `busy`. */
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static atomic_int writes;
__attribute__((visibility("default"))) int fsync(int file) {
  atomic_fetch_add(&writes, 1);
  pthread_mutex_lock(&busy);
  pthread_mutex_unlock(&busy);
  return (int)syscall(SYS_fsync, file);
}

static void start(const char* dir, const char* key, const char* value) {
  effort_config* config = NULL;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "SNAPSHOT_DIR", dir));
  CHECK_OK(effort_config_set(config, "NRMSE", "1e-12"));
  if (key) CHECK_OK(effort_config_set(config, key, value));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  CHECK_OK(effort_region("halo", EFFORT_COMM, &halo));
  CHECK_OK(effort_metric_define("flops", "1", &flops));
}

static void steps(int from, int to) {
  for (int s = from; s < to; ++s) {
    CHECK_OK(effort_add(solve, 0.25));
    CHECK_OK(effort_add(halo, 0.5));
    CHECK_OK(effort_begin(solve));
    CHECK_OK(effort_metric(flops, 1.0 + s % 4));
    CHECK_OK(effort_end(solve));
    CHECK_OK(effort_progress_step());
  }
}

static const char* only_snapshot(const char* dir, int want) {
  static char path[512];
  CHECK(snapshots_in(dir, path, sizeof path) == want);
  return info_json(path);
}

/* 24 steps: two windows and a rest, which the last snapshot holds too. */
static void last_snapshot(void) {
  start("last/of/all", NULL, NULL); /* directories are made */
  steps(0, 24);
  CHECK_OK(effort_finalize());
  const char* json = only_snapshot("last/of/all", 1);
  CHECK(number_in(json, "", "steps") == 24 && number_in(json, "", "ranks") == 1 && number_in(json, "", "nodes") == 1);
  CHECK(number_in(json, "", "window") == 0 && number_in(json, "", "merged_steps") == 0 &&
        number_in(json, "", "lost_snapshots") == 0);
  CHECK(number_in(json, "", "own_cpu_seconds") > 0);
  CHECK(strstr(json, "\"name\":\"halo\",\"kind\":\"comm\"") != NULL);
  const char* region = strstr(json, "\"name\":\"solve\"");
  if (!CHECK(region != NULL)) return;
  CHECK_NEAR(number_in(region, "\"time\":", "total"), 24 * 0.25, 0.01); /* and what the begin/end pairs took */
  CHECK(number_in(region, "\"flops\":", "total") == 24 * 2.5);
  CHECK(number_in(region, "\"flops\":", "max_over_ranks") == 24 * 2.5);
  CHECK(number_in(json, "\"windows\":", "first") == 0 && number_in(json, "\"windows\":", "last") == 9);
  CHECK(strstr(json, "\"first\":10,\"last\":19") != NULL);
}

/* A metric that no rank counts gives loads of 0, which would look like a balanced run; a misspelled variable has no
 * effect.  Both are reported. */
static void misspelled(void) {
  const char* const note = "no rank counted any 'cputime'";
  setenv("EFFORT_WINDOWS", "5", 1);
  start("misspelled", "LOAD_METRIC", "cputime");
  steps(0, 24);
  CHECK_OK(effort_finalize());
  unsetenv("EFFORT_WINDOWS");
  const char* json = only_snapshot("misspelled", 1);
  CHECK(strstr(json, note) != NULL);
  CHECK(strstr(json, "EFFORT_WINDOWS is not a setting and was ignored; did you mean EFFORT_WINDOW?\"") != NULL);
  start("well spelled", "LOAD_METRIC", "flops");
  steps(0, 24);
  CHECK_OK(effort_finalize());
  json = only_snapshot("well spelled", 1);
  CHECK(strstr(json, "no rank counted") == NULL && strstr(json, "EFFORT_WINDOWS") == NULL);
}

/* Files are named relative to where the host was at init. */
static void elsewhere(void) {
  start("at init", "REPORT", "at_init.txt");
  CHECK(mkdir("elsewhere", 0700) == 0 && chdir("elsewhere") == 0);
  steps(0, 12);
  CHECK_OK(effort_finalize());
  CHECK(chdir("..") == 0);
  only_snapshot("at init", 1);
  CHECK(access("at_init.txt", R_OK) == 0);
}

static void no_steps_no_snapshot(void) {
  start("none", NULL, NULL);
  CHECK_OK(effort_finalize());
  CHECK(snapshots_in("none", NULL, 0) <= 0);
}

static void every_so_often(void) {
  start("often", "SNAPSHOT_EVERY", "20");
  steps(0, 65);
  CHECK_OK(effort_finalize());
  CHECK(number_in(only_snapshot("often", 4), "", "steps") == 65); /* 20, 40, 60 and the end */
}

static void when_asked(void) {
  start("asked", NULL, NULL);
  steps(0, 15);
  CHECK_OK(effort_snapshot("asked.effort"));
  CHECK(number_in(info_json("asked.effort"), "", "steps") == 10);              /* complete windows */
  CHECK_FAILS(effort_snapshot("asked.effort"), EFFORT_ERR_IO, "asked.effort"); /* never overwritten */
  CHECK_FAILS(effort_snapshot("asked.effort/x.effort"), EFFORT_ERR_IO, "asked.effort");
  steps(15, 25);
  CHECK_OK(effort_snapshot(NULL));
  CHECK(number_in(only_snapshot("asked", 1), "", "steps") == 20);
  CHECK_NEAR(number_in(only_snapshot("asked", 1), "", "lost_snapshots"), 2, 0);
  CHECK_OK(effort_finalize()); /* the caller of effort_snapshot got the error already */
  CHECK(number_in(only_snapshot("asked", 2), "", "steps") == 25);
}

static void exact_windows(void) {
  start("exact", "EXACT", "1");
  steps(0, 20);
  CHECK_OK(effort_finalize());
  const char* json = only_snapshot("exact", 1);
  const double stored = number_in(json, "", "bytes");
  start("inexact", NULL, NULL);
  steps(0, 20);
  CHECK_OK(effort_finalize());
  CHECK(stored > number_in(only_snapshot("inexact", 1), "", "bytes"));
}

/* Two runs with one name never meet in one file. */
static void runs_beside_each_other(void) {
  for (int run = 0; run < 3; ++run) {
    start("beside", NULL, NULL);
    steps(0, 12);
    CHECK_OK(effort_finalize());
  }
  CHECK(snapshots_in("beside", NULL, 0) == 3);
}

static void phases(void) {
  start("phases", NULL, NULL);
  steps(0, 10);
  CHECK_OK(effort_phase("cooling"));
  steps(10, 30);
  CHECK_OK(effort_finalize());
  const char* json = only_snapshot("phases", 1);
  const char* cooling = strstr(json, "\"name\":\"solve\",\"kind\":\"compute\",\"phase\":\"cooling\"");
  const char* before = strstr(json, "\"name\":\"solve\",\"kind\":\"compute\",\"phase\":\"main\"");
  if (!CHECK(cooling != NULL) || !CHECK(before != NULL)) return;
  CHECK(number_in(cooling, "\"flops\":", "total") == 50); /* steps 10 to 29 */
  CHECK(number_in(before, "\"flops\":", "total") == 23);
}

/* Hints come while a snapshot is on its way to the disc. */
static void slow_disc(void) {
  effort_hint hint;
  pthread_mutex_lock(&busy);
  atomic_store(&writes, 0);
  setenv("EFFORT_WINDOW", "10", 1);
  start("slow", "SNAPSHOT_EVERY", "20");
  steps(0, 35);
  CHECK_OK(effort_hint_latest(&hint));
  CHECK(hint.window_last == 29);
  CHECK(snapshots_in("slow", NULL, 0) <= 0);
  pthread_mutex_unlock(&busy);
  CHECK_OK(effort_finalize());
  CHECK(atomic_load(&writes) >= 2);
  CHECK(number_in(only_snapshot("slow", 2), "", "steps") == 35);
}

/* The run continues with hints; the lost snapshot is counted, and reported at finalize. */
static void unwritable_directory(void) {
  effort_hint hint;
  FILE* file = fopen("not-a-directory", "w");
  if (!CHECK(file != NULL)) return;
  fclose(file);
  start("not-a-directory/below", "SNAPSHOT_EVERY", "10"); /* EFFORT_WINDOW is 10 still */
  steps(0, 45);
  CHECK_OK(effort_hint_latest(&hint));
  CHECK(hint.window_last == 39);
  unsetenv("EFFORT_WINDOW");
  CHECK_FAILS(effort_finalize(), EFFORT_ERR_IO, "not-a-directory");
  unlink("not-a-directory");
  start("after", NULL, NULL); /* and the next session is a good one */
  steps(0, 10);
  CHECK_OK(effort_finalize());
  CHECK(snapshots_in("after", NULL, 0) == 1);
}

/* A full disc: no partial file is left behind; later snapshots that fit are written and report the loss. */
static void full_disc(void) {
  struct rlimit before, none;
  getrlimit(RLIMIT_FSIZE, &before);
  none = before;
  none.rlim_cur = 100; /* bytes a file may have */
  signal(SIGXFSZ, SIG_IGN);
  start("full", "SNAPSHOT_EVERY", "10");
  setrlimit(RLIMIT_FSIZE, &none);
  steps(0, 25);
  CHECK_FAILS(effort_snapshot(NULL), EFFORT_ERR_IO, NULL); /* also waits until those before are tried */
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(snapshots_in("full", NULL, 0) == 0);
  steps(25, 31);
  CHECK_FAILS(effort_finalize(), EFFORT_ERR_IO, "lost");
  char newest[512];
  CHECK(snapshots_in("full", newest, sizeof newest) >= 1);
  CHECK_NEAR(number_in(info_json(newest), "", "lost_snapshots"), 3, 0);
  DIR* d = opendir("full");
  for (struct dirent* e = d ? readdir(d) : NULL; e; e = readdir(d)) {
    const size_t length = strlen(e->d_name);
    CHECK(e->d_name[0] == '.' || (length > 7 && strcmp(e->d_name + length - 7, ".effort") == 0));
  }
  if (d) closedir(d);
}

/* Not a byte goes to the host's stdout or stderr unless it asked for it. */
static void silence(void) {
  fflush(NULL);
  const int out = dup(1), err = dup(2);
  const int file = open("captured", O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(file, 1);
  dup2(file, 2);
  effort_init(NULL);
  effort_begin(99); /* errors included */
  effort_init(NULL);
  for (int s = 0; s < 25; ++s) effort_progress_step();
  effort_snapshot("/proc/no-such-dir/x.effort");
  effort_finalize();
  setenv("EFFORT_WINDOW", "x", 1);
  effort_init(NULL);
  unsetenv("EFFORT_WINDOW");
  fflush(NULL);
  dup2(out, 1);
  dup2(err, 2);
  CHECK(lseek(file, 0, SEEK_END) == 0);
  close(file);
}

static int printed; /* what went to stderr since begin_capture() */
static int real_stderr;

static void begin_capture(void) {
  fflush(NULL);
  real_stderr = dup(2);
  printed = open("captured", O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(printed, 2);
}

static const char* end_capture(void) {
  static char text[8192];
  fflush(NULL);
  dup2(real_stderr, 2);
  const ssize_t n = pread(printed, text, sizeof text - 1, 0);
  text[n > 0 ? n : 0] = '\0';
  close(printed);
  close(real_stderr);
  return text;
}

/* The table does not depend on the file.  Loads have their own unit, and sums of counts are counts. */
static void summary_of_counts(void) {
  int32_t cells;
  begin_capture();
  setenv("EFFORT_LOAD_METRIC", "cells", 1);
  start("/proc/no-such-dir", "REPORT", "summary");
  unsetenv("EFFORT_LOAD_METRIC");
  effort_region("solve", EFFORT_COMPUTE, &solve);
  effort_metric_define("cells", "cells", &cells);
  for (int s = 0; s < 25; ++s) {
    effort_begin(solve);
    effort_metric(cells, 4e9);
    effort_end(solve);
    effort_progress_step();
  }
  const effort_status status = effort_finalize();
  const char* text = end_capture();
  CHECK(status == EFFORT_ERR_IO);
  if (!CHECK(strstr(text, "critical path 1e+11 cells, ideal 1e+11 cells (imbalance 0.0 %)") != NULL))
    fputs(text, stderr);
}

/* Under VERBOSE, problems are reported at once, or at the end if they only show during the run, even if the run is
 * shorter than a window. */
static void verbose(void) {
  begin_capture();
  setenv("EFFORT_WINDOWS", "5", 1);
  setenv("EFFORT_VERBOSE", "1", 1);
  setenv("EFFORT_METRICS", "time,PAPI_NO_SUCH", 1);
  start("verbose", "LOAD_METRIC", "cputime");
  const int at_once = strstr(end_capture(), "effort: environment variable EFFORT_WINDOWS is not a setting") != NULL;
  begin_capture();
  steps(0, 4);
  CHECK_OK(effort_finalize());
  const char* said = end_capture();
  unsetenv("EFFORT_WINDOWS");
  unsetenv("EFFORT_VERBOSE");
  unsetenv("EFFORT_METRICS");
  CHECK(at_once);
  CHECK(strstr(said, "effort: no rank counted any 'cputime'") != NULL);
}

static void summary_on_request(void) {
  char text[8192] = "";
  begin_capture();
  start("summary", "REPORT", "summary");
  steps(0, 25);
  const effort_status status = effort_finalize();
  const char* said = end_capture();
  CHECK(status == EFFORT_OK);
  CHECK(strstr(said, "solve") != NULL && strstr(said, "ideal balance would run this in") != NULL);
  start("summary", "REPORT", "summary.txt");
  steps(0, 25);
  CHECK_OK(effort_finalize());
  FILE* written = fopen("summary.txt", "r");
  if (!CHECK(written != NULL)) return;
  CHECK(fread(text, 1, sizeof text - 1, written) > 100);
  fclose(written);
  start("summary", "REPORT", "no-such-dir/summary.txt");
  steps(0, 25);
  CHECK_FAILS(effort_finalize(), EFFORT_ERR_IO, "no-such-dir/summary.txt");
  CHECK(strstr(effort_last_error(), "No such file") != NULL && strstr(effort_last_error(), "rank 0") == NULL);
}

/* Opening a pipe without a reader would block the host forever. */
static void report_elsewhere(void) {
  CHECK(mkfifo("pipe", 0600) == 0 && mkdir("directory", 0700) == 0);
  const char* const places[] = {"pipe", "directory", "/dev/zero"};
  for (int i = 0; i < 3; ++i) {
    start("report elsewhere", "REPORT", places[i]);
    steps(0, 25);
    CHECK_FAILS(effort_finalize(), EFFORT_ERR_IO, places[i]);
  }
}

int main(void) {
  char scratch[] = "snapshots-XXXXXX";
  unsetenv("EFFORT_SNAPSHOT_DIR"); /* it would win over what is set here */
  if (!CHECK(mkdtemp(scratch) != NULL) || !CHECK(chdir(scratch) == 0)) return 1;
  last_snapshot();
  misspelled();
  elsewhere();
  no_steps_no_snapshot();
  every_so_often();
  when_asked();
  exact_windows();
  slow_disc();
  runs_beside_each_other();
  phases();
  unwritable_directory();
  full_disc();
  silence();
  verbose();
  summary_on_request();
  summary_of_counts();
  report_elsewhere();
  return failures() != 0;
}
