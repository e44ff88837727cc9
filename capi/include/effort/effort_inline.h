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

#define EFFORT_INLINE_LAYOUT 2

/* The front of what the library keeps per thread.  `layout` stays where it is for ever; the library sets it to the
 * layout it has when the TSC is its clock, and to 0 otherwise.  Not for use by hosts. */
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
};
extern EFFORT_API __thread void* effort_this_thread_slot __attribute__((tls_model("initial-exec")));

/* Single instructions where a signal handler that begins and ends regions itself may interrupt; the same order of stores
 * as in the library, because another thread may be reading. */
static inline void effort_inline_switch_(struct effort_thread_slot* s, uint32_t next) {
  struct effort_thread_cell* const cell = &s->cells[s->current];
  uint64_t before, now;
  uint32_t low, high;
  unsigned char done;
  do {
    before = __atomic_load_n(&s->stamp, __ATOMIC_RELAXED);
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    now = ((uint64_t)high << 32) | low;
    uint64_t expected = before;
    __asm__ volatile("cmpxchgq %3, %1\n\tsete %0" : "=q"(done), "+m"(s->stamp), "+a"(expected) : "r"(now) : "cc", "memory");
  } while (__builtin_expect(!done, 0));
  __atomic_store_n(&s->current, next, __ATOMIC_RELEASE);
  __asm__ volatile("addq %1, %0" : "+m"(cell->ticks) : "r"(now - before) : "cc", "memory");
}

/** effort_begin, inline. */
static inline effort_status effort_begin_inline(effort_region_id r) {
  struct effort_thread_slot* const s = (struct effort_thread_slot*)effort_this_thread_slot;
  /* A negative count: not every call is timed. */
  if (__builtin_expect(!s || s->layout != EFFORT_INLINE_LAYOUT || (uint32_t)r - 1u >= s->limit || s->depth >= EFFORT_MAX_DEPTH ||
                           s->cells[r].begins < 0, 0))
    return effort_begin(r);
  __asm__ volatile("incq %0" : "+m"(s->cells[r].begins) : : "cc", "memory");
  s->stack[s->depth++] = s->current;
  effort_inline_switch_(s, (uint32_t)r);
  return EFFORT_OK;
}

/** effort_end, inline. */
static inline effort_status effort_end_inline(effort_region_id r) {
  struct effort_thread_slot* const s = (struct effort_thread_slot*)effort_this_thread_slot;
  if (__builtin_expect(!s || s->layout != EFFORT_INLINE_LAYOUT || s->current != (uint32_t)r || s->depth == 0, 0)) return effort_end(r);
  effort_inline_switch_(s, s->stack[s->depth - 1]);
  __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the stack is lowered last: a handler may use what is above */
  --s->depth;
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
