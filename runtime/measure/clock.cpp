#include "runtime/measure/clock.hpp"

namespace effort::measure {
namespace detail {
bool use_tsc = false;
std::atomic<const TickRate*> rate{nullptr};

const TickRate& find_tick_rate() {
  static const TickRate found = [] {
    const TscAndSystem tsc = measure_tsc_rate();
    use_tsc = tsc.ticks != 0;
    if (tsc.ticks == 0) return TickRate{false, 1e-9, std::int64_t{1} << 32};
    return TickRate{true, static_cast<double>(tsc.ns) * 1e-9 / static_cast<double>(tsc.ticks),
                    static_cast<std::int64_t>((tsc.ns << 32) / tsc.ticks)};
  }();
  rate.store(&found, std::memory_order_release);
  return found;
}

}  // namespace detail
}  // namespace effort::measure
