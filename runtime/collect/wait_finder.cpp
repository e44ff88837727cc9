#include "runtime/collect/wait_finder.hpp"

#include "runtime/measure/clock.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace effort::engine {

using measure::Definition;
using measure::Kind;

WaitFinder::WaitFinder(std::span<const int> ranks, int n_ranks, NameUnion& names)
    : names_(names),
      waits_(ranks, n_ranks),
      origin_(measure::ticks()),
      clock_([this] { return node_ns(measure::ticks()); }),
      region_(names.add(whole_step_region())),
      delay_(names.add({Definition::metric, 0, Kind::compute, "collective_delay", "s"})),
      wait_(names.add({Definition::metric, 0, Kind::compute, "collective_wait", "s"})),
      transfer_(names.add({Definition::metric, 0, Kind::compute, "collective_transfer", "s"})) {}

/// The inverse of measure::arrival_word() loses three bits, so this counts modulo 2^61 ticks.
std::int64_t WaitFinder::node_ns(std::uint64_t ticks) const {
  const auto since = static_cast<std::int64_t>((ticks - origin_) << 3) >> 3;
  return measure::ns_of(static_cast<std::uint64_t>(since));
}

void WaitFinder::compare_clocks(Communicator& nodes) {
  if (nodes.size() == 1) return;
  constexpr double drift = 50e-6;  // of quartz clocks against each other
  const std::int64_t now = node_ns(measure::ticks());
  clock_.widen(static_cast<std::int64_t>(drift * static_cast<double>(now - compared_)));
  for (int n = clock_.known() ? 2 : 9; n > 0; --n) clock_.round(nodes);
  compared_ = now;
  bound_ = 2 * clock_.bound();  // of both nodes
  nodes.allreduce(std::span<std::int64_t>(&bound_, 1), ReduceOp::max);
  largest_bound_ = std::max(largest_bound_, bound_);
}

void WaitFinder::find(Communicator& nodes, Collector& collector) {
  compare_clocks(nodes);
  WindowBlock& block = collector.block();
  const auto columns = static_cast<std::size_t>(block.steps);
  const auto place = [&](int local, std::int64_t step) {
    const std::int64_t column = std::clamp<std::int64_t>(step - block.first_step, 0, block.steps - 1);
    return static_cast<std::size_t>(local) * columns + static_cast<std::size_t>(column);
  };
  const auto add = [&](NodeId metric, std::uint32_t phase, std::size_t at, double seconds) {
    std::vector<double>& row = block.series[{region_, NodeId{phase}, metric}];
    row.resize(block.load.size());
    row[at] += seconds;
  };
  for (auto* array : {&block.delay, &block.transfer}) array->resize(block.load.size());

  for (StepArrivals& a : collector.take_arrivals()) {
    const std::size_t at = place(a.local, a.step);
    const double inside = static_cast<double>(measure::ns_of(a.header.inside)) * 1e-9;
    block.transfer[at] += inside;
    add(transfer_, static_cast<std::uint32_t>(a.phase), at, inside);
    communication::ArrivalBatch batch;
    batch.communicator = static_cast<std::uint32_t>(names_.global(Definition::communicator, a.communicator));
    batch.local = a.local;
    batch.place = a.header.place;
    batch.size = a.header.size;
    batch.first = a.header.first;
    batch.end = a.header.end;
    batch.level = static_cast<int>(a.header.level);
    batch.step = a.step;
    batch.phase = static_cast<std::uint32_t>(a.phase);
    auto word = a.words.begin();
    for (std::uint64_t i = batch.first; i < batch.end && word != a.words.end(); ++i)
      if (communication::in_sample(i, batch.level)) {
        batch.arrivals.push_back({i, node_ns(*word >> 3), static_cast<std::uint8_t>(*word & 7)});
        ++word;
      }
    waits_.add(std::move(batch));
  }

  const std::size_t n_communicators = names_.run().of(Definition::communicator).size();
  for (const communication::CollectiveWait& w : waits_.find(nodes, n_communicators, {clock_.offset(), bound_})) {
    const std::size_t at = place(w.local, w.step);
    const double waited = std::min(w.waited, block.transfer[at]);  // but for errors of the clocks
    block.delay[at] += w.delay;
    block.transfer[at] -= waited;
    add(delay_, w.phase, at, w.delay);
    add(wait_, w.phase, at, waited);
    add(transfer_, w.phase, at, -waited);
  }
  if (waits_.evaluated() > 0) return;
  block.delay.clear();  // not measured, rather than nobody waited
  block.transfer.clear();
}

std::string WaitFinder::account() const {
  if (waits_.evaluated() + waits_.dropped() == 0)
    return "COMM_WAITS is on, but the run has no collectives that were seen: link or preload libeffort_pmpi";
  std::string out = "COMM_WAITS: waits at " + std::to_string(waits_.evaluated()) + " collectives were evaluated";
  if (waits_.dropped() > 0)
    out += ", " + std::to_string(waits_.dropped()) + " were not because the arrival of a rank is missing";
  if (largest_bound_ > 0) out += "; between nodes they are exact to " + std::to_string(largest_bound_) + " ns";
  return out;
}

}  // namespace effort::engine
