// Updates of a thread's own totals that a signal handler in the same thread may interrupt and repeat.
//
// A handler may interrupt begin or end between any two instructions, and begin and end regions itself.  It leaves
// everything unchanged except the clock's stamp, which advances, and totals, which grow.  The stamp is therefore
// advanced by one instruction that detects a change (advance_stamp), and totals grow by one instruction (add_own).
// Neither needs the bus lock, because no other thread writes there.
#pragma once

#include "runtime/measure/clock.hpp"

#include <atomic>
#include <cstdint>

namespace effort::measure {

#if defined(__x86_64__) && defined(__GNUC__)

/// Adds to a total that only this thread writes.
inline void add_own(std::atomic<std::uint64_t>& total, std::uint64_t amount) noexcept {
  __asm__ volatile("addq %1, %0" : "+m"(total) : "r"(amount) : "cc", "memory");
}

/// Increments; returns whether the result's sign bit is set.
inline bool count_own(std::atomic<std::int64_t>& total) noexcept {
  bool negative;
  __asm__ volatile("incq %0" : "+m"(total), "=@ccs"(negative) : : "memory");
  return negative;
}

/// Takes that back.
inline void uncount_own(std::atomic<std::int64_t>& total) noexcept {
  __asm__ volatile("decq %0" : "+m"(total) : : "cc", "memory");
}

/// The same, and returns what it was.
inline std::uint64_t grow_own(std::atomic<std::uint64_t>& total, std::uint64_t amount) noexcept {
  __asm__ volatile("xaddq %0, %1" : "+r"(amount), "+m"(total) : : "cc", "memory");
  return amount;
}

#else

inline void add_own(std::atomic<std::uint64_t>& total, std::uint64_t amount) noexcept {
  total.fetch_add(amount, std::memory_order_release);
}
inline bool count_own(std::atomic<std::int64_t>& total) noexcept {
  return total.fetch_add(1, std::memory_order_relaxed) + 1 < 0;
}
inline void uncount_own(std::atomic<std::int64_t>& total) noexcept { total.fetch_sub(1, std::memory_order_relaxed); }
inline std::uint64_t grow_own(std::atomic<std::uint64_t>& total, std::uint64_t amount) noexcept {
  return total.fetch_add(amount, std::memory_order_acq_rel);
}

#endif

/// Returns false and changes nothing if the value is not the expected one.  Uses an addition, which is cheaper than a
/// compare-and-exchange.
inline bool replace_own(std::atomic<std::uint64_t>& value, std::uint64_t expected, std::uint64_t fresh) noexcept {
  if (__builtin_expect(grow_own(value, fresh - expected) == expected, 1)) return true;
  add_own(value, expected - fresh);
  return false;
}

/// Moves the stamp to `now`, which has just been read, and returns the time since the last stamp.  If a handler has
/// moved it further in between, returns 0 and leaves it.  The clock is best read first: processors read it only when
/// all earlier instructions are done, while later ones overlap with the way to the next reading.
inline std::uint64_t advance_stamp(std::atomic<std::uint64_t>& stamp, std::uint64_t now) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::uint64_t before = stamp.load(std::memory_order_relaxed);
  if (__builtin_expect(now < before || !replace_own(stamp, before, now), 0)) return 0;
  return now - before;
}

}  // namespace effort::measure
