#include "runtime/measure/clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace effort::measure {
namespace detail {
bool use_tsc = false;
}

namespace {

bool tsc_is_invariant() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  // Leaf 0x80000007, EDX bit 8: the TSC runs at a constant rate in all power states.
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
  return false;
#endif
}

TickRate calibrate() {
#if defined(__x86_64__)
  if (tsc_is_invariant()) {
    const std::uint64_t t0 = __rdtsc(), n0 = monotonic_ns();
    std::uint64_t n1 = n0;
    while (n1 - n0 < 2'000'000u) n1 = monotonic_ns();
    const std::uint64_t t1 = __rdtsc();
    if (t1 > t0) return {true, static_cast<double>(n1 - n0) * 1e-9 / static_cast<double>(t1 - t0)};
  }
#endif
  return {false, 1e-9};
}

}  // namespace

const TickRate& tick_rate() {
  static const TickRate rate = [] {
    TickRate r = calibrate();
    detail::use_tsc = r.use_tsc;
    return r;
  }();
  return rate;
}

}  // namespace effort::measure
