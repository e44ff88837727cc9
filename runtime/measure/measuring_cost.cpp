#include "runtime/measure/measuring_cost.hpp"

#include "runtime/measure/boundary.hpp"
#include "runtime/recording/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

namespace effort::measure {
namespace {

constexpr int chunks = 10, rounds = 64;

/// Seconds per round of `body`.  The minimum over several chunks is used, to exclude interruptions.
template <typename Body>
double seconds_per_round(const Body& body) {
  std::uint64_t least = ~std::uint64_t{0};
  for (int c = 0; c < chunks; ++c) {
    const std::uint64_t start = ticks();
    for (int i = 0; i < rounds; ++i) body();
    least = std::min(least, ticks() - start);
  }
  return static_cast<double>(least) * tick_rate().seconds_per_tick / rounds;
}

/// Memory for events that are never read, if events will be recorded.
class Scratch {
 public:
  explicit Scratch(bool wanted) {
    if (!wanted) return;
    bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(64, (size + 63) / 64 * 64)));
    if (!bytes_) throw std::bad_alloc();
    std::memset(bytes_.get(), 0, size);
    memory_ = recording::Memory(bytes_.get(), n_blocks);
  }
  recording::Memory* memory() const { return memory_ ? &memory_ : nullptr; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  static constexpr std::size_t n_blocks = recording::Memory::least_blocks;
  const std::size_t size = recording::Memory::bytes(n_blocks);
  std::unique_ptr<std::byte, Free> bytes_;
  mutable recording::Memory memory_;
};

}  // namespace

// Measures on a separate slot that is never read.
MeasuringCost measure_cost(ThreadSlot& own, SlotPlan plan) {
  MeasuringCost cost;
  const bool brief_by_ticks = own.counters.brief_by_ticks();
  const auto scratch = std::make_unique<ThreadSlot>();
  if (!brief_by_ticks) plan.boundary = nullptr;
  plan.at_step = nullptr;
  const Scratch events(plan.events != nullptr);
  plan.events = events.memory();
  scratch->prepare(own.session(), 1, plan);
  const auto pair = [&] {
    open_region(*scratch, 1);
    close_region(*scratch, 1);
  };
  // The time charged to empty regions and between them is the library's own.
  const Cell* const cells = scratch->cells.load(std::memory_order_relaxed);
  const auto booked = [&](std::uint32_t region) { return cells[region].ticks.load(std::memory_order_relaxed); };
  cost.before_begin = cost.before_end = std::numeric_limits<double>::infinity();
  for (int c = 0; c < chunks; ++c) {
    pair();
    const std::uint64_t between = booked(outside), inside = booked(1);
    for (int i = 0; i < rounds; ++i) pair();
    cost.before_begin = std::min(cost.before_begin, static_cast<double>(booked(outside) - between) / rounds);
    cost.before_end = std::min(cost.before_end, static_cast<double>(booked(1) - inside) / rounds);
  }
  cost.pair.timed = (cost.before_begin + cost.before_end) * tick_rate().seconds_per_tick;
  auto sampled = std::make_unique<SamplingPlan>(2);
  sampled->calls[1] = sampled->apart[1] = {Guard::longest_period, 1, 0};
  scratch->sampling.offer(std::move(sampled));
  scratch->ask(resample);
  cost.pair.skipped = std::min(seconds_per_round(pair), cost.pair.timed);
  if (!own.counters.boundary()) return cost;
  std::int64_t values[max_metrics];
  const double reading = seconds_per_round([&] { own.counters.boundary()->read(values); });
  if (brief_by_ticks) {
    cost.cpu_reading = reading;
    return cost;
  }
  cost.pair.timed += 2 * reading;
  cost.before_begin += reading / tick_rate().seconds_per_tick;
  cost.before_end += reading / tick_rate().seconds_per_tick;
  return cost;
}

}  // namespace effort::measure
