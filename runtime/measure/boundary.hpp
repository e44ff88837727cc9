// Where a thread goes from one region to another: the short path, and the careful one for everything else.
#pragma once

#include "runtime/measure/thread_slot.hpp"

namespace effort::measure {

#if defined(__x86_64__)
inline std::uint64_t tsc() noexcept { return __rdtsc(); }
#else
inline std::uint64_t tsc() noexcept { return ticks(); }
#endif

/// Moves the time up to `now` from the current region, whose cell is `left`, and makes `next` the current one; `own` of it was the
/// library's.  Only where the short path may be taken (limit > 0, or a current word without flags).
inline void switch_short(ThreadSlot& s, Cell& left, std::uint32_t next, std::uint64_t now, std::uint64_t own) noexcept {
  const std::uint64_t passed = advance_stamp(s.stamp, now);
  s.current.store(next, std::memory_order_release);
  add_own(left.ticks, passed - own);
}

/// Begins a region at the moment `now`.
inline void enter_short(ThreadSlot& s, Cell* cells, std::uint32_t region, std::uint64_t now) noexcept {
  count_own(cells[region].begins);
  const std::uint32_t depth = s.depth, around = s.current.load(std::memory_order_relaxed);
  s.stack[depth] = around;
  s.depth = depth + 1;
  switch_short(s, cells[around], region, now, s.own.before_begin.load(std::memory_order_relaxed));
}

/// Whether begins of a region are sampled.  The first look says no at the least cost; the clock is read after it, because a call that is
/// skipped must not pay for that.
inline bool is_sampled(const ThreadSlot& s, const Cell* cells, std::uint32_t region) noexcept {
  return __builtin_expect(s.layout.load(std::memory_order_relaxed) != inline_layout, 0) && cells[region].begins.load(std::memory_order_relaxed) < 0;
}

/// Ends `region`, which is the innermost one, at the moment `now`.  What it returns to is read before the stack is lowered: a signal
/// handler may use what lies above.
inline void leave_short(ThreadSlot& s, std::uint32_t region, std::uint64_t now) noexcept {
  const std::uint32_t depth = s.depth - 1, next = s.stack[depth];
  switch_short(s, s.cells.load(std::memory_order_relaxed)[region], next, now, s.own.before_end.load(std::memory_order_relaxed));
  s.depth = depth;
}

/// Begins a region; the caller has checked that 1 <= region <= known and depth < max_depth.
void open_carefully(ThreadSlot& s, std::uint32_t region) noexcept;
/// Ends a region; false where another one is the innermost.
bool close_carefully(ThreadSlot& s, std::uint32_t region) noexcept;

/// The same by whichever path is open: what adapters call.
inline void open_region(ThreadSlot& s, std::uint32_t region) noexcept {
  if (region - 1u >= s.limit.load(std::memory_order_relaxed)) return open_carefully(s, region);
  Cell* const cells = s.cells.load(std::memory_order_relaxed);
  if (is_sampled(s, cells, region)) return open_carefully(s, region);
  enter_short(s, cells, region, tsc());
}
inline bool close_region(ThreadSlot& s, std::uint32_t region) noexcept {
  if (s.current.load(std::memory_order_relaxed) != region || s.depth == 0) return close_carefully(s, region);
  leave_short(s, region, tsc());
  return true;
}

/// From here to close_price, every boundary is exact.  Returns the pricing under way, which goes on afterwards.
Pricing open_price(ThreadSlot& s) noexcept;
/// What has been spent since open_price, which returned `around`; not open where that was in another thread.
Pricing close_price(ThreadSlot& s, const Pricing& around) noexcept;

/// Gives a region that waits what the last begin has left out before it, because the wait would have lasted as long without the library;
/// nothing to others.
void keep_own(ThreadSlot& s, std::uint32_t region) noexcept;
/// What has passed since the last boundary was the library's: it goes to no region.
void disregard(ThreadSlot& s) noexcept;
/// Books everything up to this moment: to the current region, or where sampling says.
void settle(ThreadSlot& s) noexcept;
/// The same at the end of a step: reads what is read once a step too.
void settle_step(ThreadSlot& s) noexcept;
/// The same at the end of the thread, which then is in no region.
void leave_all(ThreadSlot& s) noexcept;

/// The innermost open region of the owner, whatever its flags; 0 for none.
inline std::uint32_t innermost(const ThreadSlot& s) noexcept { return region_of(s.current.load(std::memory_order_relaxed)); }

}  // namespace effort::measure
