#include "runtime/measure/clock.hpp"

namespace effort::measure {
namespace detail {
bool use_tsc = false;
}

const TickRate& tick_rate() {
  static const TickRate rate = [] {
    const TscAndSystem tsc = measure_tsc_rate();
    detail::use_tsc = tsc.ticks != 0;
    if (tsc.ticks == 0) return TickRate{false, 1e-9, std::int64_t{1} << 32};
    return TickRate{true, static_cast<double>(tsc.ns) * 1e-9 / static_cast<double>(tsc.ticks),
                    static_cast<std::int64_t>((tsc.ns << 32) / tsc.ticks)};
  }();
  return rate;
}

}  // namespace effort::measure
