// Region boundaries, where a thread enters or leaves a region: a short path for the usual case and a careful path for
// everything else.
#pragma once

#include "runtime/measure/thread_slot.hpp"

namespace effort::measure {

/// Charges the time up to `now`, less the library's own share `own`, to the current region, whose cell is `left`, and
/// makes `next` the current region.  Requires that the short path is open (limit > 0, or a current word without flags).
inline void switch_short(ThreadSlot& s, Cell& left, std::uint32_t next, std::uint64_t now, std::uint64_t own) noexcept {
  const std::uint64_t passed = advance_stamp(s.stamp, now);
  s.current.store(next, std::memory_order_release);
  add_own(left.ticks, passed - own);
}

/// Begins a region on the short path.  Returns false and changes nothing if the path is closed or the stack is full.
inline bool begin_short(ThreadSlot& s, std::uint32_t region) noexcept {
  if (__builtin_expect(region - 1u >= s.limit.load(std::memory_order_relaxed), 0)) return false;
  Cell* const cells = s.cells.load(std::memory_order_relaxed);
  // Are begins of the region sampled?  The layout usually rules it out at the lowest cost.  The clock is read
  // afterwards, because a skipped call must not pay for the reading.
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

/// Ends a region on the short path.  Returns false and changes nothing if the path is closed or another region is
/// innermost.
inline bool end_short(ThreadSlot& s, std::uint32_t region) noexcept {
  if (__builtin_expect(s.current.load(std::memory_order_relaxed) != region, 0)) return false;
  const std::uint64_t now = tsc();
  if (__builtin_expect(s.depth == 0, 0)) return false;
  // Read the enclosing region before lowering the stack: a signal handler may overwrite entries above its top.
  const std::uint32_t depth = s.depth - 1, next = s.stack[depth];
  switch_short(s, s.cells.load(std::memory_order_relaxed)[region], next, now,
               s.own.before_end.load(std::memory_order_relaxed));
  s.depth = depth;
  return true;
}

/// Begins a region at `now` on the short path.  No other region may be open.  The caller has read the thread's time
/// stamp as `before` and charges the time since then.  If the stamp has changed in the meantime, or if the region is
/// sampled, nothing is changed and the result is false.
__attribute__((always_inline)) inline bool begin_outermost(ThreadSlot& s, std::uint32_t region, std::uint64_t before,
                                                           std::uint64_t now) noexcept {
  // Reload values instead of keeping them: callers may have few registers left.
  const bool sampled = count_own(s.cells.load(std::memory_order_relaxed)[region].begins);
  if (__builtin_expect(sampled || !replace_own(s.stamp, before, now), 0)) {
    uncount_own(s.cells.load(std::memory_order_relaxed)[region].begins);
    return false;
  }
  s.depth = 1;  // the bottom of the stack always holds `outside`
  s.current.store(region, std::memory_order_release);
  return true;
}

/// Ends a region begun by begin_outermost().  Returns false and changes nothing if a signal handler has intervened.
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

/// Begins a region on the careful path.  The caller has checked that 1 <= region <= known and depth < max_depth.
void open_carefully(ThreadSlot& s, std::uint32_t region) noexcept;
/// Ends a region on the careful path.  Returns false if another region is innermost.
bool close_carefully(ThreadSlot& s, std::uint32_t region) noexcept;

/// Begin and end a region on whichever path is open.
inline void open_region(ThreadSlot& s, std::uint32_t region) noexcept {
  if (!begin_short(s, region)) open_carefully(s, region);
}
inline bool close_region(ThreadSlot& s, std::uint32_t region) noexcept {
  return end_short(s, region) || close_carefully(s, region);
}

/// Starts pricing a rebalance: every call is timed until close_price().  Returns the enclosing pricing, if any, which
/// resumes afterwards.
Pricing open_price(ThreadSlot& s) noexcept;
/// Returns what the thread has spent since open_price(), which returned `around`.  The result is not open if
/// open_price() was called in another thread.
Pricing close_price(ThreadSlot& s, const Pricing& around) noexcept;

/// Charges the time between two boundaries to a region, less the library's own share before a begin.  For callers of
/// begin_outermost(), which charges that time to no region.
/// @param waited  the time was spent waiting.  The share is then not subtracted: without the library, the wait would
///                have ended at the same moment
__attribute__((always_inline)) inline void charge(ThreadSlot& s, std::uint32_t region, std::uint64_t passed,
                                                  bool waited) noexcept {
  const std::uint64_t own = waited ? 0 : s.own.before_begin.load(std::memory_order_relaxed);
  add_own(s.cells.load(std::memory_order_relaxed)[region].ticks, passed - own);
}
/// Charges the time spent outside all regions until the last boundary to `region` (0: to none), for callers that learn
/// only now which region it belongs to.  Ticks only: for slots without counters.
/// @param waited  see charge()
inline void claim_ticks(ThreadSlot& s, std::uint32_t region, bool waited) noexcept {
  s.claim_outside_ticks(region);
  if (waited)
    add_own(s.cells.load(std::memory_order_relaxed)[region].ticks, s.own.before_begin.load(std::memory_order_relaxed));
}
/// As claim_ticks(), until now and including counters.  Time claimed for a region of another kind than COMPUTE was
/// waiting.
void claim(ThreadSlot& s, std::uint32_t region) noexcept;
/// Discards the time since the last boundary, which the library itself has used: it is charged to no region.
void disregard(ThreadSlot& s) noexcept;
/// Charges everything up to now to the current region, or to the region that sampling selects.
void settle(ThreadSlot& s) noexcept;
/// As settle(), at the end of a step: also reads the counters that are read once a step.
void settle_step(ThreadSlot& s) noexcept;
/// As settle(), at the end of the thread: afterwards it is in no region.
void leave_all(ThreadSlot& s) noexcept;

/// The owner's innermost open region, whatever its flags; 0 if none is open.
inline std::uint32_t innermost(const ThreadSlot& s) noexcept {
  return region_of(s.current.load(std::memory_order_relaxed));
}
/// Whether the owner is in no region.
inline bool is_outside(const ThreadSlot& s) noexcept { return s.depth == 0; }
/// Whether the innermost open region was begun at a reading of the clock: sampling has not skipped it.
inline bool is_timed(const ThreadSlot& s) noexcept {
  return (s.current.load(std::memory_order_relaxed) & skipped) == 0;
}

}  // namespace effort::measure
