/* The floor: the least that a begin/end pair in a shared library must do (a call, a thread-local slot in the
 * initial-exec model, the time-stamp counter, an addition, a count), without checks or nesting. */
#include <stdint.h>
#include <x86intrin.h>

struct slot {
  uint64_t start, ticks, count;
};
static __thread struct slot floor_slot __attribute__((tls_model("initial-exec")));

__attribute__((visibility("default"), noinline)) int floor_begin(int region) {
  (void)region;
  floor_slot.start = __rdtsc();
  return 0;
}

__attribute__((visibility("default"), noinline)) int floor_end(int region) {
  (void)region;
  floor_slot.ticks += __rdtsc() - floor_slot.start;
  ++floor_slot.count;
  return 0;
}
