#include "runtime/collect/wait_finder.hpp"

#include "runtime/measure/clock.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace effort::engine {

using measure::Definition;
using measure::Kind;

WaitFinder::WaitFinder(std::span<const int> ranks, int n_ranks, NameUnion& names)
    : names_(names),
      ranks_(ranks.begin(), ranks.end()),
      n_ranks_(n_ranks),
      waits_(ranks, n_ranks),
      origin_(measure::ticks()),
      clock_([this] { return node_ns(measure::ticks()); }),
      region_(names.add(whole_step_region())),
      delay_(names.add({Definition::metric, 0, Kind::compute, "collective_delay", "s"})),
      wait_(names.add({Definition::metric, 0, Kind::compute, "collective_wait", "s"})),
      transfer_(names.add({Definition::metric, 0, Kind::compute, "collective_transfer", "s"})) {}

void WaitFinder::follow_messages(std::span<const int> ranks, int n_ranks, node::Segment& segment,
                                 const Collector& collector) {
  late_sender_ = names_.add({Definition::metric, 0, Kind::compute, "late_sender_wait", "s"});
  message_transfer_ = names_.add({Definition::metric, 0, Kind::compute, "message_transfer", "s"});
  caused_ = names_.add({Definition::metric, 0, Kind::compute, "caused_wait", "s"});
  messages_ = std::make_unique<MessageWaits>(ranks, n_ranks, segment, collector, names_,
                                             [this](std::uint64_t ticks) { return node_ns(ticks); });
}

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

/// One call of find(): the steps [first, last] of a block.
class WaitFinder::Pass {
 public:
  Pass(WindowBlock& b, NodeId region, std::int64_t first, std::int64_t last, std::size_t n_local)
      : block(b),
        first_column(std::clamp<std::int64_t>(first - b.first_step, 0, b.steps)),
        end_column(std::clamp<std::int64_t>(last + 1 - b.first_step, first_column, b.steps)),
        inside(n_local, 0.0),
        region_(region) {}

  /// Position of a rank's step in the block's arrays.
  std::size_t place(int local, std::int64_t step) const {
    const std::int64_t column = std::clamp<std::int64_t>(step - block.first_step, 0, block.steps - 1);
    return static_cast<std::size_t>(local) * static_cast<std::size_t>(block.steps) + static_cast<std::size_t>(column);
  }
  void add(NodeId metric, NodeId phase, std::size_t at, double seconds) const {
    std::vector<double>& row = block.series[{region_, phase, metric}];
    row.resize(block.load.size());
    row[at] += seconds;
  }

  WindowBlock& block;
  const std::int64_t first_column, end_column;
  std::vector<double> inside;  ///< [n_local] seconds in calls in which a rank might have waited
  std::vector<communication::WaitEdge> edges;
  std::vector<std::pair<std::size_t, double>> delays;  ///< at collectives, and where in the block

 private:
  const NodeId region_;
};

void WaitFinder::add_collectives(Communicator& nodes, Collector& collector, Pass& pass) {
  WindowBlock& block = pass.block;
  for (StepArrivals& a : collector.take_arrivals()) {
    const std::size_t at = pass.place(a.local, a.step);
    const double inside = static_cast<double>(measure::ns_of(a.header.inside)) * 1e-9;
    block.transfer[at] += inside;
    pass.inside[static_cast<std::size_t>(a.local)] += inside;
    pass.add(transfer_, a.phase, at, inside);
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
    bool all_meet = false;
    for (std::uint64_t i = batch.first; i < batch.end && word != a.words.end(); ++i)
      if (communication::in_sample(i, batch.level)) {
        batch.arrivals.push_back({i, node_ns(*word >> 3), static_cast<std::uint8_t>(*word & 7)});
        all_meet = all_meet || batch.arrivals.back().part == (communication::gives | communication::waits);
        ++word;
      }
    if (all_meet && a.header.size == n_ranks_ && a.step >= block.first_step && a.step < block.first_step + block.steps)
      block.synchronized[static_cast<std::size_t>(a.step - block.first_step)] = true;
    waits_.add(std::move(batch));
  }

  const std::size_t n_communicators = names_.run().of(Definition::communicator).size();
  for (const communication::CollectiveWait& w :
       waits_.find(nodes, n_communicators, {clock_.offset(), bound_}, messages_ ? &pass.edges : nullptr)) {
    const std::size_t at = pass.place(w.local, w.step);
    const double waited = std::min(w.waited, block.transfer[at]);  // limited only because clocks have errors
    pass.delays.emplace_back(at, w.delay);
    block.transfer[at] -= waited;
    pass.add(delay_, NodeId{w.phase}, at, w.delay);
    pass.add(wait_, NodeId{w.phase}, at, waited);
    pass.add(transfer_, NodeId{w.phase}, at, -waited);
  }
}

/// Returns whether late senders are known.  If so, the block gets the delays followed back to the ranks that caused
/// them.
bool WaitFinder::add_messages(Communicator& nodes, std::int64_t last, Pass& pass) {
  if (!messages_->find(nodes, {clock_.offset(), bound_}, last)) return false;
  WindowBlock& block = pass.block;
  const std::int64_t columns = pass.end_column - pass.first_column;
  if (columns == 0) return false;
  for (const MessageWaits::Inside& i : messages_->inside()) {
    const std::size_t at = pass.place(i.local, i.step);
    block.transfer[at] += i.seconds;
    pass.inside[static_cast<std::size_t>(i.local)] += i.seconds;
    pass.add(message_transfer_, block.phase[at], at, i.seconds);
  }
  std::map<std::pair<int, int>, double> for_whom;
  for (const communication::LateSender& w : messages_->waits()) {
    const std::size_t at = pass.place(w.local, w.step);
    const double waited = static_cast<double>(w.ns) * 1e-9 * static_cast<double>(std::uint64_t{1} << w.level);
    for_whom[{ranks_[static_cast<std::size_t>(w.local)], w.late}] += waited;
    block.transfer[at] -= waited;
    pass.add(late_sender_, block.phase[at], at, waited);
    pass.add(message_transfer_, block.phase[at], at, -waited);
  }
  for (const auto& [ranks, seconds] : for_whom) pass.edges.push_back({ranks.first, ranks.second, seconds});

  std::vector<double> busy(ranks_.size());
  for (std::size_t l = 0; l < ranks_.size(); ++l) {
    busy[l] = -pass.inside[l];
    for (std::int64_t c = pass.first_column; c < pass.end_column; ++c)
      busy[l] += block.wall[l * static_cast<std::size_t>(block.steps) + static_cast<std::size_t>(c)];
  }
  const std::vector<double> caused = communication::follow_back(nodes, ranks_, n_ranks_, std::move(pass.edges), busy);
  for (std::size_t l = 0; l < ranks_.size(); ++l)
    for (std::int64_t c = pass.first_column; c < pass.end_column; ++c) {
      const std::size_t at = l * static_cast<std::size_t>(block.steps) + static_cast<std::size_t>(c);
      block.delay[at] += caused[l] / static_cast<double>(columns);
      pass.add(caused_, block.phase[at], at, caused[l] / static_cast<double>(columns));
    }
  return true;
}

void WaitFinder::find(Communicator& nodes, Collector& collector, std::int64_t last) {
  compare_clocks(nodes);
  WindowBlock& block = collector.block();
  for (auto* array : {&block.delay, &block.transfer}) array->resize(block.load.size());
  Pass pass(block, region_, next_step_, last, ranks_.size());
  next_step_ = last + 1;
  add_collectives(nodes, collector, pass);
  const bool followed = messages_ && add_messages(nodes, last, pass);
  if (!followed)
    for (const auto& [at, seconds] : pass.delays) block.delay[at] += seconds;
  if (waits_.evaluated() > 0 || (followed && messages_->any())) return;
  block.delay.clear();  // empty means not measured; zeros would mean that no rank waited
  block.transfer.clear();
}

std::string WaitFinder::account(Communicator& nodes) const {
  const std::string messages = messages_ ? messages_->account(nodes) : "";
  if (waits_.evaluated() + waits_.dropped() == 0 && messages.empty())
    return "COMM_WAITS is on, but no collectives were intercepted: link or preload libeffort_pmpi";
  std::string out = "COMM_WAITS: waits at " + std::to_string(waits_.evaluated()) + " collectives were evaluated";
  if (waits_.dropped() > 0)
    out += ", " + std::to_string(waits_.dropped()) + " were not, because the arrival of a rank is missing";
  out += messages;
  if (largest_bound_ > 0) out += "; between nodes they are exact to " + std::to_string(largest_bound_) + " ns";
  return out;
}

}  // namespace effort::engine
