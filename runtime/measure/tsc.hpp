// The time-stamp counter (TSC) of x86-64 processors, and its rate.  Needs no library, no floating point and no memory,
// so that it can be used at any moment of a host.
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

/// How far two clocks advanced meanwhile.
struct TscRate {
  std::uint64_t ticks;  ///< 0: there is no counter of constant rate
  std::uint64_t ns;
};

#if defined(__x86_64__)
namespace detail {

inline bool tsc_is_invariant() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  // Leaf 0x80000007, EDX bit 8: the TSC runs at a constant rate in all power states.
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

/// Reads both clocks at one moment.  Of several readings, the least interrupted one is used.
inline TscRate read_both_clocks() noexcept {
  TscRate best{};
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = monotonic_ns(), t = __rdtsc(), after = monotonic_ns();
    if (after - before < least) {
      least = after - before;
      best = {t, before + (after - before) / 2};
    }
  }
  return best;
}

}  // namespace detail
#endif

/// Compares the TSC with the system's clock; takes 2 ms if there is one of constant rate.
inline TscRate measure_tsc_rate() noexcept {
#if defined(__x86_64__)
  if (detail::tsc_is_invariant()) {
    const TscRate start = detail::read_both_clocks();
    while (monotonic_ns() - start.ns < 2'000'000u) {
    }
    const TscRate end = detail::read_both_clocks();
    if (end.ticks > start.ticks) return {end.ticks - start.ticks, end.ns - start.ns};
  }
#endif
  return {0, 0};
}

}  // namespace effort::measure
