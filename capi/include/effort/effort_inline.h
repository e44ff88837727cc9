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

#define EFFORT_INLINE_LAYOUT 1

/* The front of what the library keeps per thread.  `layout` stays where it is for ever; the library sets it to the
 * layout it has when the short path may be taken, and to 0 otherwise.  Not for use by hosts. */
struct effort_thread_slot {
  uint32_t layout;
  uint32_t limit;
  uint32_t current;
  uint32_t depth;
  uint64_t stamp;
  uint64_t* ticks;
  uint32_t* stack;
};
extern EFFORT_API __thread void* effort_this_thread_slot __attribute__((tls_model("initial-exec")));

static inline uint64_t effort_inline_tsc_(void) {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return ((uint64_t)high << 32) | low;
}

/* Same order of stores as in the library: another thread may be reading. */
static inline void effort_inline_switch_(struct effort_thread_slot* s, uint32_t next) {
  uint64_t* const cell = &s->ticks[s->current];
  const uint64_t stamp = s->stamp, now = effort_inline_tsc_();
  __atomic_store_n(&s->stamp, now, __ATOMIC_RELEASE);
  __atomic_store_n(&s->current, next, __ATOMIC_RELEASE);
  __atomic_store_n(cell, *cell + (now - stamp), __ATOMIC_RELEASE);
}

/** effort_begin, inline. */
static inline effort_status effort_begin_inline(effort_region_id r) {
  struct effort_thread_slot* const s = (struct effort_thread_slot*)effort_this_thread_slot;
  if (__builtin_expect(!s || s->layout != EFFORT_INLINE_LAYOUT || (uint32_t)r - 1u >= s->limit || s->depth >= EFFORT_MAX_DEPTH, 0))
    return effort_begin(r);
  s->stack[s->depth++] = s->current;
  effort_inline_switch_(s, (uint32_t)r);
  return EFFORT_OK;
}

/** effort_end, inline. */
static inline effort_status effort_end_inline(effort_region_id r) {
  struct effort_thread_slot* const s = (struct effort_thread_slot*)effort_this_thread_slot;
  if (__builtin_expect(!s || s->layout != EFFORT_INLINE_LAYOUT || s->current != (uint32_t)r || s->depth == 0, 0)) return effort_end(r);
  effort_inline_switch_(s, s->stack[--s->depth]);
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
