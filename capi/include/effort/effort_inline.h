/* Opt-in: begin and end without a function call, for regions that last some ten nanoseconds.
 *
 *     #include <effort/effort_inline.h>
 *     effort_begin_inline(id);  ...  effort_end_inline(id);
 *
 * They do the same as effort_begin and effort_end, with the same checks, and call those in every unusual case: a
 * thread's first region, counters besides the clock, errors, a library whose slot has another layout than this
 * header's, or a platform other than x86-64 with GCC or Clang.  C99 and C++17.
 */
#ifndef EFFORT_EFFORT_INLINE_H
#define EFFORT_EFFORT_INLINE_H

#include <effort/effort.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__x86_64__) && defined(__GNUC__)

#define EFFORT_INLINE_LAYOUT 3

/* The first members of the library's data per thread.  The position of `layout` is fixed forever.  The library sets it
 * to its own layout number while the TSC is its clock and all regions are timed at every call, and to 0 otherwise.  Not
 * for use by hosts. */
struct effort_thread_cell {
  uint64_t ticks;
  int64_t begins;
};
struct effort_thread_slot {
  uint32_t layout;
  uint32_t limit;
  uint32_t current;
  uint32_t depth;
  uint64_t stamp;
  struct effort_thread_cell* cells;
  uint32_t* stack;
  uint64_t own_before_begin, own_before_end;
};
extern EFFORT_API __thread void* effort_this_thread_slot __attribute__((tls_model("initial-exec")));

static inline uint64_t effort_inline_now_(void) {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
  return ((uint64_t)high << 32) | low;
}

/* Totals are updated by single instructions, because a signal handler that begins and ends regions may interrupt at any
 * point.  The order of stores is the same as in the library, because another thread may be reading. */
static inline void effort_inline_switch_(struct effort_thread_slot* s, struct effort_thread_cell* left, uint32_t next,
                                         uint64_t now, uint64_t own) {
  const uint64_t before = __atomic_load_n(&s->stamp, __ATOMIC_RELAXED);
  uint64_t passed = 0;
  if (__builtin_expect(now >= before, 1)) {
    uint64_t former = passed = now - before;
    __asm__ volatile("xaddq %0, %1" : "+r"(former), "+m"(s->stamp) : : "cc", "memory");
    if (__builtin_expect(former != before, 0)) { /* a handler has moved it on */
      __asm__ volatile("subq %1, %0" : "+m"(s->stamp) : "r"(passed) : "cc", "memory");
      passed = 0;
    }
  }
  __atomic_store_n(&s->current, next, __ATOMIC_RELEASE);
  __asm__ volatile("addq %1, %0" : "+m"(left->ticks) : "r"(passed - own) : "cc", "memory");
}

/** effort_begin, inline. */
static inline effort_status effort_begin_inline(effort_region_id r) {
  struct effort_thread_slot* const s = (struct effort_thread_slot*)effort_this_thread_slot;
  if (__builtin_expect(!s || s->layout != EFFORT_INLINE_LAYOUT || (uint32_t)r - 1u >= s->limit, 0))
    return effort_begin(r);
  const uint64_t now = effort_inline_now_();
  if (__builtin_expect(s->depth >= EFFORT_MAX_DEPTH, 0)) return effort_begin(r);
  struct effort_thread_cell* const cells = s->cells;
  const uint32_t depth = s->depth, around = s->current;
  __asm__ volatile("incq %0" : "+m"(cells[r].begins) : : "cc", "memory");
  s->stack[depth] = around;
  s->depth = depth + 1;
  effort_inline_switch_(s, &cells[around], (uint32_t)r, now, __atomic_load_n(&s->own_before_begin, __ATOMIC_RELAXED));
  return EFFORT_OK;
}

/** effort_end, inline. */
static inline effort_status effort_end_inline(effort_region_id r) {
  struct effort_thread_slot* const s = (struct effort_thread_slot*)effort_this_thread_slot;
  if (__builtin_expect(!s || s->layout != EFFORT_INLINE_LAYOUT || s->current != (uint32_t)r, 0)) return effort_end(r);
  const uint64_t now = effort_inline_now_();
  if (__builtin_expect(s->depth == 0, 0)) return effort_end(r);
  /* Read it before lowering the stack: a handler may overwrite entries above its top. */
  const uint32_t depth = s->depth - 1, next = s->stack[depth];
  effort_inline_switch_(s, &s->cells[(uint32_t)r], next, now, __atomic_load_n(&s->own_before_end, __ATOMIC_RELAXED));
  s->depth = depth;
  return EFFORT_OK;
}

#else

static inline effort_status effort_begin_inline(effort_region_id r) { return effort_begin(r); }
static inline effort_status effort_end_inline(effort_region_id r) { return effort_end(r); }

#endif

#ifdef __cplusplus
}
#endif
#endif /* EFFORT_EFFORT_INLINE_H */
