// The processor's time-stamp counter (TSC), and its rate: that of x86-64, or the virtual count of arm64, which the
// system's clock is made from there.  Needs no library, no floating point and no memory, so it can be used at any point
// of the host's execution.
#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace effort::measure {

inline std::uint64_t monotonic_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

/// The time-stamp counter; on a platform without one, the system's clock.  Plain readings: serializing them costs more
/// than the error it removes.
inline std::uint64_t tsc() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count) : : "memory");
  return count;
#else
  return monotonic_ns();
#endif
}

/// A moment on two clocks, or the time between two moments.
struct TscAndSystem {
  std::uint64_t ticks;  ///< of the TSC
  std::uint64_t ns;     ///< of the system's clock
};

#if defined(__x86_64__)
namespace detail {

inline bool tsc_is_invariant() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  // Leaf 0x80000007, EDX bit 8: the TSC runs at a constant rate in all power states.
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

/// Reads both clocks at one moment.  Of several readings, the least interrupted one is used.
inline TscAndSystem read_both_clocks() noexcept {
  TscAndSystem best{};
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = monotonic_ns(), t = tsc(), after = monotonic_ns();
    if (after - before < least) {
      least = after - before;
      best = {t, before + (after - before) / 2};
    }
  }
  return best;
}

}  // namespace detail
#endif

/// Returns how far both clocks advance in the same time.  Takes 2 ms on x86-64, where the rate has to be measured.
/// Returns zeros, without waiting, if the processor has no TSC that runs at a constant rate.
inline TscAndSystem measure_tsc_rate() noexcept {
#if defined(__x86_64__)
  if (detail::tsc_is_invariant()) {
    const TscAndSystem start = detail::read_both_clocks();
    while (monotonic_ns() - start.ns < 2'000'000u) {
    }
    const TscAndSystem end = detail::read_both_clocks();
    if (end.ticks > start.ticks) return {end.ticks - start.ticks, end.ns - start.ns};
  }
#elif defined(__aarch64__)
  std::uint64_t per_second;
  __asm__("mrs %0, cntfrq_el0" : "=r"(per_second));
  if (per_second != 0) return {per_second, 1'000'000'000u};
#endif
  return {0, 0};
}

}  // namespace effort::measure
