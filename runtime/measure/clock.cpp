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

#if defined(__x86_64__)
struct Moment {
  std::uint64_t ticks, ns;
};

// Reads both clocks at one moment.  Of several readings, the least interrupted one is used.
Moment moment() {
  Moment best{};
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
#endif

TickRate calibrate() {
#if defined(__x86_64__)
  if (tsc_is_invariant()) {
    const Moment start = moment();
    while (monotonic_ns() - start.ns < 2'000'000u) {
    }
    const Moment end = moment();
    if (end.ticks > start.ticks)
      return {true, static_cast<double>(end.ns - start.ns) * 1e-9 / static_cast<double>(end.ticks - start.ticks)};
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
