// The clock of region boundaries: the processor's time-stamp counter (TSC) if it is invariant.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "runtime/measure/tsc.hpp"

namespace effort::measure {

/// CPU time of the calling thread, nanoseconds; about 200 ns a call.
inline std::int64_t thread_cpu_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

/// The unit of ticks().  It is found once per process, on the first call (2 ms on x86-64); thread-safe.
struct TickRate {
  bool use_tsc;  ///< false: ticks are nanoseconds of CLOCK_MONOTONIC_RAW
  double seconds_per_tick;
  std::int64_t ns_per_tick;  ///< in units of 2^-32 ns
};
const TickRate& tick_rate();

namespace detail {
extern bool use_tsc;                       // copy of tick_rate().use_tsc for the hot path
extern std::atomic<const TickRate*> rate;  // null before the first tick_rate(), which sets both
const TickRate& find_tick_rate();
}  // namespace detail

inline const TickRate& tick_rate() {
  const TickRate* const known = detail::rate.load(std::memory_order_acquire);
  return __builtin_expect(known != nullptr, 1) ? *known : detail::find_tick_rate();
}

/// Current time in ticks.  Costs 8 ns with the TSC of x86-64.
inline std::uint64_t ticks() noexcept { return __builtin_expect(detail::use_tsc, 1) ? tsc() : monotonic_ns(); }

/// Converts ticks, which may be a negative number modulo 2^64, to nanoseconds, rounded down.  Without floating point,
/// because begin and end use it in the host's floating-point environment.
inline std::int64_t ns_of(std::uint64_t ticks) noexcept {
  __extension__ typedef __int128 Wide;
  return static_cast<std::int64_t>(Wide{static_cast<std::int64_t>(ticks)} * tick_rate().ns_per_tick >> 32);
}

}  // namespace effort::measure
