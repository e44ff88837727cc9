/* Reads the output of `effort info --json` for a snapshot.  The command's path is in EFFORT_TEST_COMMAND. */
#ifndef EFFORT_TESTS_SNAPSHOT_INFO_H
#define EFFORT_TESTS_SNAPSHOT_INFO_H

#include "check.h"

#include <dirent.h>
#include <stdlib.h>

/* Snapshots in a directory; the name of the last one, in order, goes to `newest` (with the directory). */
static inline int snapshots_in(const char* dir, char* newest, size_t room) {
  int n = 0;
  char best[256] = "";
  DIR* d = opendir(dir);
  if (!d) return -1;
  for (struct dirent* e = readdir(d); e; e = readdir(d)) {
    const size_t length = strlen(e->d_name);
    if (length < 8 || strcmp(e->d_name + length - 7, ".effort") != 0) continue;
    ++n;
    if (strcmp(e->d_name, best) > 0) snprintf(best, sizeof best, "%s", e->d_name);
  }
  closedir(d);
  if (newest) snprintf(newest, room, "%s/%s", dir, best);
  return n;
}

/* Everything the command prints, in one static buffer; "" and a failed check if it fails. */
static inline const char* info_json(const char* snapshot) {
  static char text[1 << 20];
  char command[2048];
  const char* tool = getenv("EFFORT_TEST_COMMAND");
  text[0] = '\0';
  if (!CHECK(tool != NULL)) return text;
  /* Under mpiexec, the command must not start as a rank. */
  snprintf(command, sizeof command, "'%s' info --json '%s'", tool, snapshot);
  FILE* pipe = popen(command, "r");
  if (!CHECK(pipe != NULL)) return text;
  const size_t n = fread(text, 1, sizeof text - 1, pipe);
  text[n] = '\0';
  CHECK(pclose(pipe) == 0);
  return text;
}

/* The number that follows `key` after `anchor` ("" for the top level); NaN if there is none. */
static inline double number_in(const char* json, const char* anchor, const char* key) {
  char quoted[256];
  const char* at = strstr(json, anchor);
  if (!at) return NAN;
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  at = strstr(at, quoted);
  return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

#endif
