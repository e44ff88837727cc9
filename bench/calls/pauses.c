// How long single calls of a program take, beside what the machine itself adds.
//
// usage: EFFORT_TRACE=functions LD_PRELOAD=libeffort_functions.so pauses [calls|work|touch|spin]
//   calls  random calls of sixteen empty functions, the worst case for the recording: 4 KB for some 2,200 calls
//   work   instead, 12 us of arithmetic after every 2,200 rounds, about as long as a full chunk takes
//   touch  instead, one byte of new memory is written after every 2,200 rounds
//   spin   instead, nothing
// Prints a histogram of the rounds above 2 us, without the first 1.2 million: until then, each thread's tables grow.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

#define PLAIN __attribute__((no_instrument_function))

enum { rounds = 3200000, from = 1200000, per_page = 2200, page = 4096 };

#define FUNCTIONS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define DEFINE(n) \
  __attribute__((noinline)) static void f##n(void) { __asm__ volatile(""); }
#define NAME(n) f##n,

FUNCTIONS(DEFINE)

static void (*const functions[])(void) = {FUNCTIONS(NAME)};

PLAIN static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

PLAIN static double ticks_per_us(void) {
  const double begin = seconds();
  const uint64_t ticks = __rdtsc();
  while (seconds() - begin < 0.05) continue;
  return (double)(__rdtsc() - ticks) / (seconds() - begin) / 1e6;
}

PLAIN static uint64_t next(uint64_t random) {  // xorshift (Marsaglia 2003)
  random ^= random << 13;
  random ^= random >> 7;
  return random ^ random << 17;
}

PLAIN static uint64_t compute(uint64_t random, long n) {
  for (; n > 0; --n) random = next(random);
  return random;
}

/// Rounds of compute() in a microsecond: the shortest of some measurements.
PLAIN static long rounds_per_us(double ticks_per_us) {
  enum { n = 2000, repetitions = 200 };
  static volatile uint64_t sink = 88172645463325252u;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < repetitions; ++i) {
    const uint64_t before = __rdtsc();
    sink = compute(sink, n);
    const uint64_t took = __rdtsc() - before;
    if (took < least) least = took;
  }
  return (long)(n * ticks_per_us / (double)least);
}

PLAIN int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "calls";
  const int calls = !strcmp(what, "calls"), works = !strcmp(what, "work"), touches = !strcmp(what, "touch");
  static const double edges[] = {2, 5, 10, 20, 35, 50, 1e9};
  enum { bins = sizeof edges / sizeof *edges - 1 };
  long count[bins] = {0};
  double longest = 0, begin = 0;
  const double rate = ticks_per_us();
  const long per_us = rounds_per_us(rate);
  char* memory =
      mmap(NULL, (size_t)page * (rounds / per_page + 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  uint64_t random = 88172645463325252u;
  for (long i = 0; i < rounds; ++i) {
    if (i == from) begin = seconds();
    random = next(random);
    const uint64_t before = __rdtsc();
    if (calls) functions[random >> 33 & 15]();
    if (works && i % per_page == 0) random = compute(random, per_us * 12);
    if (touches && i % per_page == 0) *(volatile char*)(memory + page * (i / per_page)) = 1;
    const double us = (double)(__rdtsc() - before) / rate;
    if (i < from || us < edges[0]) continue;
    if (us > longest) longest = us;
    for (int b = 0; b < bins; ++b) count[b] += us >= edges[b] && us < edges[b + 1];
  }
  const double time = seconds() - begin;
  printf("%s: %.3f s;", what, time);
  for (int b = 0; b < bins; ++b)
    b + 1 < bins ? printf(" %g to %g us: %ld,", edges[b], edges[b + 1], count[b])
                 : printf(" more: %ld (%.0f a second), longest %.0f us\n", count[b], (double)count[b] / time, longest);
  return 0;
}
