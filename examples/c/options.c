#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const names[] = {"none", "own", "hints"};

const char* balance_name(balance_mode mode) { return names[mode]; }

static int read_mode(const char* text, balance_mode* out) {
  for (int m = BALANCE_NONE; m <= BALANCE_HINTS; ++m) {
    if (strcmp(text, names[m]) == 0) {
      *out = (balance_mode)m;
      return 0;
    }
  }
  return 1;
}

static int read_count(const char* text, long long least, long long most, long long* out) {
  char* end = NULL;
  errno = 0;
  *out = strtoll(text, &end, 10);
  return end == text || *end != '\0' || errno != 0 || *out < least || *out > most;
}

static int read_one(options* o, const char* key, const char* value) {
  long long n = 0;
  if (strcmp(key, "--balance") == 0) return read_mode(value, &o->balance);
  if (strcmp(key, "--interval") == 0) {
    if (read_count(value, 1, 1000000, &n)) return 1;
    o->interval = (int)n;
  } else if (strcmp(key, "--steps") == 0) {
    if (read_count(value, 1, 10000000, &n)) return 1;
    o->steps = (int)n;
  } else if (strcmp(key, "--particles") == 0) {
    if (read_count(value, 200, 2000000, &n)) return 1;
    o->particles = n;
  } else if (strcmp(key, "--seed") == 0) {
    if (read_count(value, 0, 1000000000, &n)) return 1;
    o->seed = (uint64_t)n;
  } else {
    return 1;
  }
  return 0;
}

int options_read(options* o, int argc, char** argv, int verbose) {
  *o = (options){.balance = BALANCE_NONE, .interval = 20, .steps = 700, .particles = 24000, .seed = 1};
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc || read_one(o, argv[i], argv[i + 1])) {
      if (verbose) {
        fprintf(stderr, "particles: cannot use '%s %s'\n", argv[i], i + 1 < argc ? argv[i + 1] : "");
        fprintf(stderr,
                "usage: particles [--balance none|own|hints] [--interval N] [--steps N]\n"
                "                 [--particles N (200 to 2000000)] [--seed N]\n");
      }
      return 1;
    }
  }
#ifndef WITH_EFFORT
  if (o->balance == BALANCE_HINTS) {
    if (verbose) fprintf(stderr, "particles: built without effort (WITH_EFFORT=OFF): use --balance none or own\n");
    return 1;
  }
#endif
  return 0;
}
