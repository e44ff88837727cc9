// Boundaries of threads that record their events, without a function call, for regions that no other region encloses.
#pragma once

#include "runtime/measure/boundary.hpp"
#include "runtime/measure/careful.hpp"

namespace effort::measure {

/// Closes the gate for a boundary at `now`.  False, with the gate open, if the session has ended, or if a signal
/// handler has moved the stamp past `now`.
inline bool close_gate_to_record(ThreadSlot& s, std::uint64_t now) noexcept {
  s.gate.close();
  // The end of a session waits until the gate opens, so this is checked with the gate closed.
  if (__builtin_expect(s.events.on() && now >= s.last_boundary(), 1)) return true;
  s.gate.open();
  return false;
}

/// Whether begin_recorded() may be called: no region is open, and nothing else has to be done.
inline bool may_begin_recorded(const ThreadSlot& s) noexcept {
  return !s.gate.closed() && is_outside(s) && s.only_recording.load(std::memory_order_relaxed);
}

/// Begins a region at `now`.  The time since the last boundary is charged to `outside`.  The caller has closed the
/// gate.
inline void begin_recorded(ThreadSlot& s, std::uint32_t region, std::uint64_t now) noexcept {
  const std::uint64_t before = s.stamp.load(std::memory_order_relaxed);
  s.stamp.store(now, std::memory_order_relaxed);  // no signal handler moves it while the gate is closed
  Cell* const cells = s.cells.load(std::memory_order_relaxed);
  add_own(cells[outside].ticks, now - before - s.own.before_begin.load(std::memory_order_relaxed));
  count_own(cells[region].begins);
  s.depth = 1;  // the bottom of the stack always holds `outside`
  s.current.store(region | careful, std::memory_order_release);
  s.events.boundary(recording::RecordKind::enter, region, now);
}

/// Whether end_recorded() may be called for a region that begin_recorded() has begun.
inline bool may_end_recorded(const ThreadSlot& s, std::uint32_t region) noexcept {
  return !s.gate.closed() && s.depth == 1 && s.current.load(std::memory_order_relaxed) == (region | careful) &&
         s.only_recording.load(std::memory_order_relaxed);
}

/// Ends it at `now`.  The caller has closed the gate.
inline void end_recorded(ThreadSlot& s, std::uint32_t region, std::uint64_t now) noexcept {
  const std::uint64_t before = s.stamp.load(std::memory_order_relaxed);
  s.stamp.store(now, std::memory_order_relaxed);
  s.current.store(outside | careful, std::memory_order_release);
  s.depth = 0;
  add_own(s.cells.load(std::memory_order_relaxed)[region].ticks,
          now - before - s.own.before_end.load(std::memory_order_relaxed));
  s.events.boundary(recording::RecordKind::leave, region, now);
}

/// Charges the time from the last boundary until `now` to no region.  The caller has closed the gate.
inline void disregard_until(ThreadSlot& s, std::uint64_t now) noexcept {
  s.stamp.store(now, std::memory_order_relaxed);
}

}  // namespace effort::measure
