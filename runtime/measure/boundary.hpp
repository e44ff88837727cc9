// Where a thread goes from one region to another: the short path, and the careful one for everything else.
#pragma once

#include "runtime/measure/thread_slot.hpp"

namespace effort::measure {

#if defined(__x86_64__)
inline std::uint64_t tsc() noexcept { return __rdtsc(); }
#else
inline std::uint64_t tsc() noexcept { return ticks(); }
#endif

/// Moves the time up to `now` from the current region, whose cell is `left`, and makes `next` the current one; `own` of
/// it was the library's.  Only where the short path may be taken (limit > 0, or a current word without flags).
inline void switch_short(ThreadSlot& s, Cell& left, std::uint32_t next, std::uint64_t now, std::uint64_t own) noexcept {
  const std::uint64_t passed = advance_stamp(s.stamp, now);
  s.current.store(next, std::memory_order_release);
  add_own(left.ticks, passed - own);
}

/// Begins a region on the short path; false, with nothing changed, if that is closed, or if the stack is full.
inline bool begin_short(ThreadSlot& s, std::uint32_t region) noexcept {
  if (__builtin_expect(region - 1u >= s.limit.load(std::memory_order_relaxed), 0)) return false;
  Cell* const cells = s.cells.load(std::memory_order_relaxed);
  // Whether begins of the region are sampled: the first look says no at the least cost.  The clock is read after it,
  // because a call that is skipped must not pay for that.
  if (__builtin_expect(s.layout.load(std::memory_order_relaxed) != inline_layout, 0) &&
      cells[region].begins.load(std::memory_order_relaxed) < 0)
    return false;
  const std::uint64_t now = tsc();
  const std::uint32_t depth = s.depth;
  if (__builtin_expect(depth >= max_depth, 0)) return false;
  count_own(cells[region].begins);
  const std::uint32_t around = s.current.load(std::memory_order_relaxed);
  s.stack[depth] = around;
  s.depth = depth + 1;
  switch_short(s, cells[around], region, now, s.own.before_begin.load(std::memory_order_relaxed));
  return true;
}

/// Ends a region on the short path; false, with nothing changed, if that is closed, or if another region is the
/// innermost.
inline bool end_short(ThreadSlot& s, std::uint32_t region) noexcept {
  if (__builtin_expect(s.current.load(std::memory_order_relaxed) != region, 0)) return false;
  const std::uint64_t now = tsc();
  if (__builtin_expect(s.depth == 0, 0)) return false;
  // The region that it returns to is read before the stack is lowered: a signal handler may use what lies above.
  const std::uint32_t depth = s.depth - 1, next = s.stack[depth];
  switch_short(s, s.cells.load(std::memory_order_relaxed)[region], next, now,
               s.own.before_end.load(std::memory_order_relaxed));
  s.depth = depth;
  return true;
}

/// Begins a region with no other open, at the moment `now`, on the short path; false, with nothing changed, if the
/// stamp is no longer `before` or the region is sampled.  The time since `before` is the caller's to give away.
__attribute__((always_inline)) inline bool begin_outermost(ThreadSlot& s, std::uint32_t region, std::uint64_t before,
                                                           std::uint64_t now) noexcept {
  // What can be read again is not kept: callers may have few registers left.
  const bool sampled = count_own(s.cells.load(std::memory_order_relaxed)[region].begins);
  if (__builtin_expect(sampled || !replace_own(s.stamp, before, now), 0)) {
    uncount_own(s.cells.load(std::memory_order_relaxed)[region].begins);
    return false;
  }
  s.depth = 1;  // its word on the stack is that of outside, as ever
  s.current.store(region, std::memory_order_release);
  return true;
}

/// Ends that region; false, with nothing changed, if something has come in between.
__attribute__((always_inline)) inline bool end_outermost(ThreadSlot& s, std::uint32_t region,
                                                         std::uint64_t now) noexcept {
  if (__builtin_expect(s.current.load(std::memory_order_relaxed) != region, 0)) return false;
  const std::uint64_t before = s.stamp.load(std::memory_order_relaxed);
  if (__builtin_expect(now < before || !replace_own(s.stamp, before, now), 0)) return false;
  s.current.store(outside, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  s.depth = 0;
  add_own(s.cells.load(std::memory_order_relaxed)[region].ticks,
          now - before - s.own.before_end.load(std::memory_order_relaxed));
  return true;
}

/// Begins a region; the caller has checked that 1 <= region <= known and depth < max_depth.
void open_carefully(ThreadSlot& s, std::uint32_t region) noexcept;
/// Ends a region; false if another one is the innermost.
bool close_carefully(ThreadSlot& s, std::uint32_t region) noexcept;

/// The same by whichever path is open.
inline void open_region(ThreadSlot& s, std::uint32_t region) noexcept {
  if (!begin_short(s, region)) open_carefully(s, region);
}
inline bool close_region(ThreadSlot& s, std::uint32_t region) noexcept {
  return end_short(s, region) || close_carefully(s, region);
}

/// From here to close_price, every boundary is exact.  Returns the pricing under way, which goes on afterwards.
Pricing open_price(ThreadSlot& s) noexcept;
/// What has been spent since open_price, which returned `around`; not open if that was in another thread.
Pricing close_price(ThreadSlot& s, const Pricing& around) noexcept;

/// Gives what ran up outside all regions up to this moment to `region`, which only now is known (0: to nobody).
void claim(ThreadSlot& s, std::uint32_t region) noexcept;
/// The time since the last boundary was the library's: it goes to no region.
void disregard(ThreadSlot& s) noexcept;
/// Books everything up to this moment: to the current region, or where sampling says.
void settle(ThreadSlot& s) noexcept;
/// The same at the end of a step: reads what is read once a step too.
void settle_step(ThreadSlot& s) noexcept;
/// The same at the end of the thread, which then is in no region.
void leave_all(ThreadSlot& s) noexcept;

/// The innermost open region of the owner, whatever its flags; 0 for none.
inline std::uint32_t innermost(const ThreadSlot& s) noexcept {
  return region_of(s.current.load(std::memory_order_relaxed));
}

}  // namespace effort::measure
