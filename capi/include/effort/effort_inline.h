/* Opt-in: begin and end without a call, for regions of some ten nanoseconds.
 *
 *     #include <effort/effort_inline.h>
 *     effort_begin_inline(id);  ...  effort_end_inline(id);
 *
 * They do what effort_begin and effort_end do, with the same checks, and call those whenever anything is out of the
 * ordinary: a thread's first region, counters beside the clock, errors, another layout of the library in use than this
 * header's (the slot says which), another processor or compiler than x86-64 with GCC or Clang.  C99 and C++17.
 */
#ifndef EFFORT_EFFORT_INLINE_H
#define EFFORT_EFFORT_INLINE_H

#include <effort/effort.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__x86_64__) && defined(__GNUC__)

#define EFFORT_INLINE_LAYOUT 3

/* The front of what the library keeps per thread.  `layout` stays where it is for ever; the library sets it to the
 * layout it has when the TSC is its clock and all regions are timed at every call, and to 0 otherwise.  Not for use by
 * hosts. */
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

/* Single instructions where a signal handler that begins and ends regions itself may interrupt; the same order of
 * stores as in the library, because another thread may be reading. */
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
  effort_inline_switch_(s, &cells[around], (uint32_t)r, now, s->own_before_begin);
  return EFFORT_OK;
}

/** effort_end, inline. */
static inline effort_status effort_end_inline(effort_region_id r) {
  struct effort_thread_slot* const s = (struct effort_thread_slot*)effort_this_thread_slot;
  if (__builtin_expect(!s || s->layout != EFFORT_INLINE_LAYOUT || s->current != (uint32_t)r, 0)) return effort_end(r);
  const uint64_t now = effort_inline_now_();
  if (__builtin_expect(s->depth == 0, 0)) return effort_end(r);
  /* Read before the stack is lowered: a handler may use what lies above. */
  const uint32_t depth = s->depth - 1, next = s->stack[depth];
  effort_inline_switch_(s, &s->cells[(uint32_t)r], next, now, s->own_before_end);
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
