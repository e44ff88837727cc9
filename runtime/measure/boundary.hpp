// Where a thread goes from one region to another: the short path, and the careful one for everything else.
#pragma once

#include "runtime/measure/thread_slot.hpp"

namespace effort::measure {

#if defined(__x86_64__)
inline std::uint64_t tsc() noexcept { return __rdtsc(); }
#else
inline std::uint64_t tsc() noexcept { return ticks(); }
#endif

/// Moves the time up to this moment to the current region and makes `next` the current one.  Only where the short path
/// may be taken (limit > 0, or a current word without flags).
inline void switch_short(ThreadSlot& s, std::uint32_t next) noexcept {
  Cell& left = s.cells.load(std::memory_order_relaxed)[s.current.load(std::memory_order_relaxed)];
  const std::uint64_t passed = advance_stamp(s.stamp, tsc);
  s.current.store(next, std::memory_order_release);
  add_own(left.ticks, passed);
}

/// Ends the innermost region, of which there is one.  The stack is lowered last: what a signal handler puts on it in between lies
/// above what is still needed.
inline void leave_short(ThreadSlot& s) noexcept {
  switch_short(s, s.stack[s.depth - 1]);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  --s.depth;
}

/// Begins a region; the caller has checked that 1 <= region <= known and depth < max_depth.
/// @param counted  the short path has counted it already
void open_carefully(ThreadSlot& s, std::uint32_t region, bool counted) noexcept;
/// Ends a region; false where another one is the innermost.
bool close_carefully(ThreadSlot& s, std::uint32_t region) noexcept;

/// The same by whichever path is open: what adapters call.
inline void open_region(ThreadSlot& s, std::uint32_t region) noexcept {
  if (region - 1u >= s.limit.load(std::memory_order_relaxed)) return open_carefully(s, region, false);
  if (count_own(s.cells.load(std::memory_order_relaxed)[region].begins)) return open_carefully(s, region, true);
  s.stack[s.depth++] = s.current.load(std::memory_order_relaxed);
  switch_short(s, region);
}
inline bool close_region(ThreadSlot& s, std::uint32_t region) noexcept {
  if (s.current.load(std::memory_order_relaxed) != region || s.depth == 0) return close_carefully(s, region);
  leave_short(s);
  return true;
}

/// Books everything up to this moment: to the current region, or where sampling says.
void settle(ThreadSlot& s) noexcept;
/// The same at the end of a step: reads what is read once a step too.
void settle_step(ThreadSlot& s) noexcept;
/// The same at the end of the thread, which then is in no region.
void leave_all(ThreadSlot& s) noexcept;

/// The innermost open region of the owner, whatever its flags; 0 for none.
inline std::uint32_t innermost(const ThreadSlot& s) noexcept { return region_of(s.current.load(std::memory_order_relaxed)); }

}  // namespace effort::measure
