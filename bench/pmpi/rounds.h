/* Arguments, times and medians of benchmarks in rounds.  Wrong arguments and a lack of memory end the program with 2.
 */
#ifndef EFFORT_BENCH_ROUNDS_H
#define EFFORT_BENCH_ROUNDS_H

#include <stdlib.h>

/* Argument `i` of the command, at least 1; without it `otherwise`. */
static int positive(int argc, char** argv, int i, int otherwise) {
  const int value = argc > i ? atoi(argv[i]) : otherwise;
  if (value < 1) exit(2);
  return value;
}

static double* times_of(int rounds) {
  double* const times = malloc((size_t)rounds * sizeof *times);
  if (!times) exit(2);
  return times;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Sorts the values. */
static double median(double* v, int n) {
  qsort(v, (size_t)n, sizeof *v, by_value);
  return v[n / 2];
}

#endif
