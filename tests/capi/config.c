/* Configuration: errors are refused with the key, its value and the allowed values; later sources win. */
#include "check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void refused(const char* key, const char* value, effort_status want) {
  effort_config* config;
  if (!CHECK_OK(effort_config_new(&config))) return;
  CHECK_FAILS(effort_config_set(config, key, value), want, key);
  CHECK(strstr(effort_last_error(), value) != NULL);
  CHECK_OK(effort_config_free(config));
}

static void wrong_values(void) {
  static const char* const bad[][2] = {{"WINDOW", "0"},
                                       {"WINDOW", "-3"},
                                       {"WINDOW", "ten"},
                                       {"WINDOW", "10 "},
                                       {"WINDOW", "1e3"},
                                       {"WINDOW", "99999999999999999999"},
                                       {"HINT_LAG", "-1"},
                                       {"HINT_LAG", "soon"},
                                       {"REBALANCE_THRESHOLD", "-0.1"},
                                       {"REBALANCE_THRESHOLD", "nan"},
                                       {"LOAD_THREADS", "mean"},
                                       {"STRATA", "0"},
                                       {"STRATA", "many"},
                                       {"STRATA_LEVEL", "-1"},
                                       {"SNAPSHOT_EVERY", "-1"},
                                       {"PASSES", "0"},
                                       {"NRMSE", "0"},
                                       {"NRMSE", "2"},
                                       {"MAX_BYTES", "1"},
                                       {"EXACT", "perhaps"},
                                       {"RANKS_PER_NODE", "-1"},
                                       {"PIN", "core seven"},
                                       {"STRICT", "2"},
                                       {"HINT_TIMEOUT", "-1"},
                                       {"HINT_TIMEOUT", "inf"},
                                       {"VERBOSE", "loud"},
                                       {"MAX_OVERHEAD", "much"},
                                       {"READ_METRICS", "often"},
                                       {"DISABLE", "maybe"},
                                       {"NO_SUCH_KEY", "1"},
                                       {"EFFORT_WINDOW", "10"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) refused(bad[i][0], bad[i][1], EFFORT_ERR_CONFIG);
  refused("LOAD_METRIC", "", EFFORT_ERR_CONFIG);
  refused("SNAPSHOT_DIR", "", EFFORT_ERR_CONFIG);
  refused("METRICS", "", EFFORT_ERR_CONFIG);
}

/* A metric that cannot be counted is reported as a note; a load that cannot be counted is refused. */
static void what_cannot_be_counted(void) {
  effort_config* config;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "METRICS", "time,PAPI_NO_SUCH_EVENT"));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_progress_step());
  CHECK_OK(effort_finalize());
  CHECK_OK(effort_config_set(config, "LOAD_METRIC", "PAPI_NO_SUCH_EVENT"));
  CHECK_FAILS(effort_init(config), EFFORT_ERR_UNSUPPORTED, "PAPI_NO_SUCH_EVENT");
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_NOT_INITIALIZED, NULL);
  CHECK_OK(effort_config_free(config));
}

static void from_the_environment(void) {
  setenv("EFFORT_WINDOW", "seven", 1);
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_CONFIG, "EFFORT_WINDOW");
  CHECK(strstr(effort_last_error(), "seven") != NULL);
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_NOT_INITIALIZED, NULL);
  unsetenv("EFFORT_WINDOW");
  setenv("EFFORT_WINDOW", "10", 1);
  setenv("EFFORT_HINT_LAG", "11", 1); /* more than the window */
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_CONFIG, "HINT_LAG");
  unsetenv("EFFORT_HINT_LAG");
  unsetenv("EFFORT_WINDOW");
}

static void write_file(const char* path, const char* text) {
  FILE* f = fopen(path, "w");
  if (!CHECK(f != NULL)) return;
  fputs(text, f);
  fclose(f);
}

static void from_a_file(void) {
  setenv("EFFORT_CONFIG", "no-such-file.toml", 1);
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_CONFIG, "no-such-file.toml");
  setenv("EFFORT_CONFIG", "settings.toml", 1);
  write_file("settings.toml", "window = 5\nhint_lag = \n");
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_CONFIG, "line 2");
  write_file("settings.toml", "window = 5\n\ncolour = 'red'\n");
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_CONFIG, "line 3");
  CHECK(strstr(effort_last_error(), "COLOUR") != NULL && strstr(effort_last_error(), "red") != NULL);
  write_file("settings.toml", "strata = 999\n");
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_CONFIG, "STRATA");
  CHECK(strstr(effort_last_error(), "settings.toml") != NULL);
  write_file("settings.toml", "window = 1\nstrata = 2\nWINDOW = 2\n");
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_CONFIG, "WINDOW was already given in line 1");
  write_file("settings.toml", "snapshot_dir = \"here\\u0000there\"\n");
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_CONFIG, "NUL");
  write_file("settings.toml", "report = \"./settings.toml\"\n");
  CHECK_FAILS(effort_init(NULL), EFFORT_ERR_CONFIG, "is the configuration file");
  unsetenv("EFFORT_CONFIG");
}

/* Reading from something other than a regular file could block the host or never end. */
static void from_no_file(void) {
  CHECK(mkfifo("pipe", 0600) == 0 && mkdir("directory", 0700) == 0);
  FILE* large = fopen("large.toml", "w");
  for (int i = 0; i < 1100; ++i) fprintf(large, "#%1023s\n", "");
  fclose(large);
  const char* const refused[] = {"pipe", "directory", "/dev/zero", "/dev/null", "large.toml"};
  for (int i = 0; i < 5; ++i) {
    setenv("EFFORT_CONFIG", refused[i], 1);
    CHECK_FAILS(effort_init(NULL), EFFORT_ERR_CONFIG, refused[i]);
  }
  unsetenv("EFFORT_CONFIG");
}

static long seen_step;
static int note(const effort_hint* hint, void* user) {
  (void)user;
  if (seen_step < 0) seen_step = (long)hint->step;
  return 0;
}

/* The step of the first hint shows the window and the lag in force. */
static long first_hint(const effort_config* config) {
  seen_step = -1;
  if (!CHECK_OK(effort_init(config))) return -1;
  CHECK_OK(effort_on_rebalance(note, NULL));
  for (int s = 0; s < 30; ++s) CHECK_OK(effort_progress_step());
  CHECK_OK(effort_finalize());
  return seen_step;
}

static void later_sources_win(void) {
  effort_config* config;
  CHECK_OK(effort_config_new(&config));
  const long automatic = first_hint(NULL);
  CHECK(automatic >= 0 && automatic <= 5); /* not after a whole window */
  CHECK(first_hint(config) == automatic);
  CHECK_OK(effort_config_set(config, "WINDOW", "4"));
  CHECK_OK(effort_config_set(config, "WINDOW", "6")); /* the last one of a key holds */
  CHECK(first_hint(config) == 6 - 1 + 2);
  write_file("settings.toml", "WINDOW = 7\nhint_lag = 3\n");
  setenv("EFFORT_CONFIG", "settings.toml", 1);
  CHECK(first_hint(config) == 7 - 1 + 3);
  setenv("EFFORT_WINDOW", "8", 1);
  CHECK(first_hint(config) == 8 - 1 + 3);
  setenv("EFFORT_HINT_LAG", "8", 1);
  CHECK(first_hint(config) == 8 - 1 + 8);
  unsetenv("EFFORT_WINDOW");
  unsetenv("EFFORT_HINT_LAG");
  unsetenv("EFFORT_CONFIG");
  CHECK(first_hint(config) == 6 - 1 + 2);
  CHECK_OK(effort_config_free(config));
}

int main(void) {
  wrong_values();
  what_cannot_be_counted();
  from_the_environment();
  from_a_file();
  from_no_file();
  later_sources_win();
  unlink("settings.toml");
  unlink("large.toml");
  unlink("pipe");
  rmdir("directory");
  return failures() != 0;
}
