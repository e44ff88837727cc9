/* Checks of the host tests: plain C, so that the hosts are what users write.  A failed check is printed and counted;
 * main returns failures() != 0. */
#ifndef EFFORT_TESTS_CHECK_H
#define EFFORT_TESTS_CHECK_H

#include <effort/effort.h>
#ifdef TEST_INLINE /* the same host with the inline calls */
#include <effort/effort_inline.h>
#define effort_begin effort_begin_inline
#define effort_end effort_end_inline
#endif

#include <math.h>
#include <stdio.h>
#include <string.h>

static int check_failed;

static inline int failures(void) { return check_failed; }

static inline int check_at(int good, const char* what, const char* file, int line) {
  if (!good) {
    ++check_failed;
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  }
  return good;
}

static inline int equal_at(double a, double b, double tolerance, const char* what, const char* file, int line) {
  const int good = fabs(a - b) <= tolerance;
  if (!good) {
    ++check_failed;
    fprintf(stderr, "%s:%d: failed: %s: %.17g and %.17g\n", file, line, what, a, b);
  }
  return good;
}

static inline int status_at(effort_status got, effort_status want, const char* message, const char* what,
                            const char* file, int line) {
  const char* said = effort_last_error();
  if (got == want && (!message || strstr(said, message))) return 1;
  ++check_failed;
  fprintf(stderr, "%s:%d: failed: %s: status %d (%s), want %d; message '%.300s', want '%s' in it\n", file, line, what,
          (int)got, effort_status_string(got), (int)want, said, message ? message : "");
  return 0;
}

#define CHECK(condition) check_at((condition) != 0, #condition, __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tolerance) equal_at((a), (b), (tolerance), #a " == " #b, __FILE__, __LINE__)
#define CHECK_OK(call) status_at((call), EFFORT_OK, 0, #call, __FILE__, __LINE__)
/* The call fails with `want`, and the message of the calling thread holds `message`. */
#define CHECK_FAILS(call, want, message) status_at((call), (want), (message), #call, __FILE__, __LINE__)

#endif
