// How a thread adds to its own totals so that a signal handler may do the same in the middle of it.
//
// A handler that runs in a thread between any two instructions of begin or end, and itself begins and ends regions there,
// leaves everything as it was but for the clock's stamp, which has moved on, and for totals, which have grown.  So the
// stamp is exchanged by one instruction that notices (advance_stamp), and totals grow by one instruction (add_own).  Neither
// needs the bus lock: nobody else writes there.
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
inline void uncount_own(std::atomic<std::int64_t>& total) noexcept { __asm__ volatile("decq %0" : "+m"(total) : : "cc", "memory"); }

inline bool replace_own(std::atomic<std::uint64_t>& value, std::uint64_t expected, std::uint64_t fresh) noexcept {
  bool done;
  __asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(done), "+m"(value), "+a"(expected) : "r"(fresh) : "memory");
  return done;
}

#else

inline void add_own(std::atomic<std::uint64_t>& total, std::uint64_t amount) noexcept { total.fetch_add(amount, std::memory_order_release); }
inline bool count_own(std::atomic<std::int64_t>& total) noexcept { return total.fetch_add(1, std::memory_order_relaxed) + 1 < 0; }
inline void uncount_own(std::atomic<std::int64_t>& total) noexcept { total.fetch_sub(1, std::memory_order_relaxed); }
inline bool replace_own(std::atomic<std::uint64_t>& value, std::uint64_t expected, std::uint64_t fresh) noexcept {
  return value.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel, std::memory_order_relaxed);
}

#endif

/// Moves the stamp to this moment; returns what has passed since the last one.
template <typename Clock>
inline std::uint64_t advance_stamp(std::atomic<std::uint64_t>& stamp, const Clock& clock) noexcept {
  for (;;) {
    const std::uint64_t before = stamp.load(std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const std::uint64_t now = clock();
    if (__builtin_expect(replace_own(stamp, before, now), 1)) return now - before;
  }
}

}  // namespace effort::measure
