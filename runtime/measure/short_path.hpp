// Lets a thread add to its own totals while a signal handler in the same thread may interrupt and do the same.
//
// A handler may run between any two instructions of begin or end, and may begin and end regions itself.  When it
// returns, only the stamp has advanced and totals have grown; everything else is as before.  Therefore one instruction
// advances the stamp and detects a handler's change (advance_stamp), and one instruction adds to a total (add_own).
// Neither needs a lock prefix, because no other thread writes to these words.
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

/// Counts one more; true if the result's sign bit is set.
inline bool count_own(std::atomic<std::int64_t>& total) noexcept {
  bool negative;
  __asm__ volatile("incq %0" : "+m"(total), "=@ccs"(negative) : : "memory");
  return negative;
}

/// Reverses count_own().
inline void uncount_own(std::atomic<std::int64_t>& total) noexcept {
  __asm__ volatile("decq %0" : "+m"(total) : : "cc", "memory");
}

/// As add_own(), and returns the previous value.
inline std::uint64_t grow_own(std::atomic<std::uint64_t>& total, std::uint64_t amount) noexcept {
  __asm__ volatile("xaddq %0, %1" : "+r"(amount), "+m"(total) : : "cc", "memory");
  return amount;
}

#elif defined(__aarch64__) && defined(__GNUC__)

/// A handler between the two exclusive instructions makes the store fail, and the addition is repeated.  An atomic
/// addition is a call of a function as long as the compiler may not assume Armv8.1; a begin and end then cost 174
/// instructions instead of 126 (GCC 12, -O2).
inline std::uint64_t grow_own(std::atomic<std::uint64_t>& total, std::uint64_t amount) noexcept {
  std::uint64_t before, after;
  std::uint32_t failed;
  __asm__ volatile("1: ldxr %0, %3\n\tadd %1, %0, %4\n\tstlxr %w2, %1, %3\n\tcbnz %w2, 1b"
                   : "=&r"(before), "=&r"(after), "=&r"(failed), "+Q"(total)
                   : "r"(amount)
                   : "memory");
  return before;
}
inline void add_own(std::atomic<std::uint64_t>& total, std::uint64_t amount) noexcept { grow_own(total, amount); }
inline bool count_own(std::atomic<std::int64_t>& total) noexcept {
  std::int64_t after;
  std::uint32_t failed;
  __asm__ volatile("1: ldxr %0, %2\n\tadd %0, %0, #1\n\tstxr %w1, %0, %2\n\tcbnz %w1, 1b"
                   : "=&r"(after), "=&r"(failed), "+Q"(total)
                   :
                   : "memory");
  return after < 0;
}
inline void uncount_own(std::atomic<std::int64_t>& total) noexcept { total.fetch_sub(1, std::memory_order_relaxed); }

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

/// Replaces the value if it is the expected one; otherwise returns false and leaves it unchanged.  Uses an addition,
/// which costs less than a compare-and-exchange.
inline bool replace_own(std::atomic<std::uint64_t>& value, std::uint64_t expected, std::uint64_t fresh) noexcept {
  if (__builtin_expect(grow_own(value, fresh - expected) == expected, 1)) return true;
  add_own(value, expected - fresh);
  return false;
}

/// Advances the stamp to `now`, which has just been read, and returns the time since the previous stamp.  If a handler
/// has meanwhile moved the stamp past `now`, returns 0 and leaves the stamp.  Processors read the clock after all
/// earlier instructions have finished.  Reading it first lets the remaining work overlap with the code up to the next
/// reading.
inline std::uint64_t advance_stamp(std::atomic<std::uint64_t>& stamp, std::uint64_t now) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::uint64_t before = stamp.load(std::memory_order_relaxed);
  if (__builtin_expect(now < before || !replace_own(stamp, before, now), 0)) return 0;
  return now - before;
}

}  // namespace effort::measure
