// How a thread adds to its own totals so that a signal handler may do the same in the middle of it.
//
// A handler that runs in a thread between any two instructions of begin or end, and itself begins and ends regions
// there, leaves everything as it was but for the clock's stamp, which has moved on, and for totals, which have grown.
// So the stamp is moved by one instruction that notices (advance_stamp), and totals grow by one instruction (add_own).
// Neither needs the bus lock: nobody else writes there.
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

/// Counts one more; true where the result's sign bit is set.
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

/// False where the value is not the expected one (any more), and then it stays.  By an addition, which costs less than
/// a comparison with an exchange.
inline bool replace_own(std::atomic<std::uint64_t>& value, std::uint64_t expected, std::uint64_t fresh) noexcept {
  if (__builtin_expect(grow_own(value, fresh - expected) == expected, 1)) return true;
  add_own(value, expected - fresh);
  return false;
}

/// Moves the stamp to `now`, which has just been read; returns what has passed since the last one.  Where a handler has
/// moved it beyond in between, nothing has, and the stamp stays.  Processors read the clock when all before is done, so
/// that it is best read first: what follows then runs beside the way to the next reading.
inline std::uint64_t advance_stamp(std::atomic<std::uint64_t>& stamp, std::uint64_t now) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::uint64_t before = stamp.load(std::memory_order_relaxed);
  if (__builtin_expect(now < before || !replace_own(stamp, before, now), 0)) return 0;
  return now - before;
}

}  // namespace effort::measure
