// Boundaries of threads that record their events, without a function call, for regions that no other region encloses.
#pragma once

#include "runtime/measure/boundary.hpp"
#include "runtime/measure/careful.hpp"

namespace effort::measure {

/// Whether a boundary only reads the clock and records an event.
inline bool only_recording(const ThreadSlot& s) noexcept {
  return s.events.on() && s.counters.count() == 0 && !s.sampling.special() && !s.pricing.open &&
         s.requests.load(std::memory_order_relaxed) == 0;
}

/// Begins a region now.  The time since the last boundary is charged to `outside`.  Returns false and changes nothing
/// if another region is open, or if more than this has to be done.
inline bool begin_recorded(ThreadSlot& s, std::uint32_t region) noexcept {
  if (s.gate.closed() || s.depth != 0 || s.layout.load(std::memory_order_relaxed) != inline_layout ||
      !only_recording(s))
    return false;
  const std::uint64_t now = tsc();
  const Busy way(s);
  const std::uint64_t before = s.stamp.load(std::memory_order_relaxed);
  if (now < before) return false;
  s.stamp.store(now, std::memory_order_relaxed);  // no handler moves it while the gate is closed
  Cell* const cells = s.cells.load(std::memory_order_relaxed);
  add_own(cells[outside].ticks, now - before - s.own.before_begin.load(std::memory_order_relaxed));
  count_own(cells[region].begins);
  s.depth = 1;  // the bottom of the stack always holds `outside`
  s.current.store(region | careful, std::memory_order_release);
  s.events.boundary(recording::What::enter, region, now);
  return true;
}

/// Ends a region that begin_recorded() has begun.  Returns false and changes nothing if more has to be done.
inline bool end_recorded(ThreadSlot& s, std::uint32_t region) noexcept {
  if (s.gate.closed() || s.depth != 1 || s.current.load(std::memory_order_relaxed) != (region | careful) ||
      !only_recording(s))
    return false;
  const std::uint64_t now = tsc();
  const Busy way(s);
  const std::uint64_t before = s.stamp.load(std::memory_order_relaxed);
  if (now < before) return false;
  s.stamp.store(now, std::memory_order_relaxed);
  s.current.store(outside | careful, std::memory_order_release);
  s.depth = 0;
  add_own(s.cells.load(std::memory_order_relaxed)[region].ticks,
          now - before - s.own.before_end.load(std::memory_order_relaxed));
  s.events.boundary(recording::What::leave, region, now);
  return true;
}

}  // namespace effort::measure
