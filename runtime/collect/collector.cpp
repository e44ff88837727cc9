#include "runtime/collect/collector.hpp"

#include <algorithm>

namespace effort::engine {

using measure::Definition;
using measure::Entry;
using measure::FrameHeader;
using measure::RecordHeader;
using measure::RecordType;

void RebalanceAnswer::add(const RebalanceAnswer& other) {
  if (other.answer > 0) {
    const bool first = answer <= 0;
    price = first || price < 0 ? other.price : other.price < 0 ? price : std::min(price, other.price);
    computing = first ? other.computing : std::max(computing, other.computing);
  }
  answer = std::max(answer, other.answer);
  before += other.before;
  load += other.load;
  bracketed += other.bracketed;
}

void WindowBlock::reset(std::int64_t first, int n_local, int n_steps) {
  first_step = first;
  steps = n_steps;
  series.clear();
  work.clear();
  calls.clear();
  flows.clear();
  delay.clear();
  transfer.clear();
  synchronized.assign(static_cast<std::size_t>(n_steps), false);
  const auto n = static_cast<std::size_t>(n_local) * static_cast<std::size_t>(n_steps);
  for (auto* array : {&load, &wait, &wall}) array->assign(n, 0.0);
  phase.assign(n, NodeId{});
}

Collector::Collector(node::Segment& segment, NameUnion& names, int window)
    : segment_(segment), names_(names), window_(window), ranks_(static_cast<std::size_t>(segment.n_local())) {
  current_.reset(0, segment.n_local(), window);
  next_.reset(window, segment.n_local(), window);
}

bool Collector::find(int local, measure::Definition what, std::uint32_t id, NodeId& out) const {
  const auto& ids = ranks_[static_cast<std::size_t>(local)].ids[static_cast<std::size_t>(what)];
  if (id >= ids.size()) return false;
  out = ids[id];
  return true;
}

bool Collector::drain() {
  bool any = false;
  for (std::size_t l = 0; l < ranks_.size(); ++l) {
    Rank& rank = ranks_[l];
    if (rank.read == rank.bytes.size()) {
      rank.bytes.clear();
      rank.read = 0;
    }
    any |= segment_.ring(static_cast<int>(l)).drain(rank.bytes) > 0;
  }
  return any;
}

bool Collector::advance(std::int64_t last_step) {
  bool complete = true;
  for (int l = 0; l < segment_.n_local(); ++l) {
    read_until(l, last_step);
    const Rank& rank = ranks_[static_cast<std::size_t>(l)];
    complete &= rank.next_step > last_step || rank.final_steps >= 0;
  }
  return complete;
}

void Collector::next_window() {
  std::swap(current_, next_);
  next_.reset(current_.first_step + window_, segment_.n_local(), window_);
}

void Collector::read_until(int local, std::int64_t last_step) {
  Rank& rank = ranks_[static_cast<std::size_t>(local)];
  while (rank.bytes.size() - rank.read >= sizeof(RecordHeader)) {
    RecordHeader h;
    std::memcpy(&h, rank.bytes.data() + rank.read, sizeof h);
    if (rank.bytes.size() - rank.read < h.bytes) return;
    // Records after the last step's frame belong to the next look, except those of the end of the run.
    if (rank.next_step > last_step && h.type != RecordType::final && h.type != RecordType::snapshot) return;
    const std::span<const std::byte> record(rank.bytes.data() + rank.read, h.bytes);
    rank.read += h.bytes;
    switch (h.type) {
      case RecordType::definition: {
        const measure::Defined d = measure::read_definition(record);
        auto& ids = rank.ids[static_cast<std::size_t>(d.what)];
        ids.resize(std::max<std::size_t>(ids.size(), d.id + 1));
        ids[d.id] = names_.add(d);
        break;
      }
      case RecordType::frame: read_frame(local, record); break;
      case RecordType::traffic: read_traffic(local, record); break;
      case RecordType::arrivals: read_arrivals(local, record); break;
      case RecordType::rebalance: {
        measure::RebalanceRecord r;
        std::memcpy(&r, record.data(), sizeof r);
        const RebalanceAnswer answer{r.step, r.price, r.computing, r.answer, r.bracketed, r.before, 0.0};
        const auto [at, fresh] = rebalances_.try_emplace(r.step, answer);
        if (!fresh) at->second.add(answer);
        if (r.bracketed > 0) rank.bracketed = r.step;
        break;
      }
      case RecordType::snapshot: rank.snapshots.emplace_back(rank.next_step, measure::read_text(record)); break;
      case RecordType::final: {
        measure::FinalRecord f;
        std::memcpy(&f, record.data(), sizeof f);
        rank.final_steps = f.steps;
        break;
      }
    }
  }
}

/// Calls `visit(block, at)` for the steps of a frame, which are several if the ring was full.
template <typename Visit>
void Collector::for_each_step(int local, const FrameHeader& h, const Visit& visit) {
  for (std::int64_t s = h.first_step; s <= h.last_step; ++s) {
    const bool later = s > window_end();
    WindowBlock& block = later ? next_ : current_;
    const std::int64_t column = s - block.first_step;
    if (column < 0 || column >= window_) continue;
    visit(block,
          static_cast<std::size_t>(local) * static_cast<std::size_t>(window_) + static_cast<std::size_t>(column));
  }
}

/// Divides a value among the steps of a frame equally.
template <typename Find>
void Collector::divide_to(int local, const FrameHeader& h, double value, const Find& find) {
  const double share = value / static_cast<double>(h.last_step - h.first_step + 1);
  for_each_step(local, h, [&](WindowBlock& block, std::size_t at) { find(block)[at] += share; });
}

std::vector<double>& Collector::sized(std::vector<double>& array) const {
  if (array.empty())
    array.assign(static_cast<std::size_t>(segment_.n_local()) * static_cast<std::size_t>(window_), 0.0);
  return array;
}

NodeId Collector::outside() { return names_.add({Definition::region, 0, measure::Kind::compute, "(outside)", ""}); }

void Collector::divide(int local, const FrameHeader& h, std::vector<double> WindowBlock::*where, double value) {
  divide_to(local, h, value, [&](WindowBlock& block) -> std::vector<double>& { return block.*where; });
}

void Collector::read_traffic(int local, std::span<const std::byte> record) {
  const auto& ids = ranks_[static_cast<std::size_t>(local)].ids[static_cast<std::size_t>(Definition::region)];
  for (std::size_t at = sizeof(RecordHeader); at + sizeof(measure::Flow) <= record.size();
       at += sizeof(measure::Flow)) {
    measure::Flow f;
    std::memcpy(&f, record.data() + at, sizeof f);
    FlowSum& sum = current_.flows[{f.source, f.destination, ids[f.region], f.size_class}];
    sum.messages += f.messages;
    sum.bytes += f.bytes;
    sum.seconds += f.seconds;
  }
}

void Collector::read_arrivals(int local, std::span<const std::byte> record) {
  Rank& rank = ranks_[static_cast<std::size_t>(local)];
  StepArrivals a{local, 0, {}, {}, {}, {}};
  std::memcpy(&a.header, record.data(), sizeof a.header);
  a.communicator = rank.ids[static_cast<std::size_t>(Definition::communicator)][a.header.communicator];
  a.words.resize((record.size() - sizeof a.header) / sizeof(std::uint64_t));
  if (!a.words.empty())
    std::memcpy(a.words.data(), record.data() + sizeof a.header, a.words.size() * sizeof a.words[0]);
  rank.arrivals.push_back(std::move(a));
}

void Collector::read_calls(int local, const FrameHeader& h, NodeId region, double calls) {
  const double share = calls / static_cast<double>(h.last_step - h.first_step + 1);
  for_each_step(local, h, [&](WindowBlock& block, std::size_t at) {
    std::vector<double>& sums = block.calls[region];
    sums.resize(static_cast<std::size_t>(window_));
    sums[at % static_cast<std::size_t>(window_)] += share;
  });
}

void Collector::read_frame(int local, std::span<const std::byte> record) {
  Rank& rank = ranks_[static_cast<std::size_t>(local)];
  FrameHeader h;
  std::memcpy(&h, record.data(), sizeof h);
  divide(local, h, &WindowBlock::load, h.load);
  divide(local, h, &WindowBlock::wait, h.wait);
  divide(local, h, &WindowBlock::wall, h.wall);
  const auto id = [&](Definition what, std::uint32_t i) { return rank.ids[static_cast<std::size_t>(what)][i]; };
  for_each_step(local, h,
                [&](WindowBlock& block, std::size_t at) { block.phase[at] = id(Definition::phase, h.phase); });
  for (std::uint32_t i = 0; i < h.n_entries; ++i) {
    Entry e;
    std::memcpy(&e, record.data() + sizeof h + i * sizeof e, sizeof e);
    if (e.series == measure::calls_series) {
      read_calls(local, h, id(Definition::region, e.region), e.value);
    } else if (e.series >= measure::work_series) {
      const NodeId unit = id(Definition::unit, e.series - measure::work_series);
      divide_to(local, h, e.value, [&](WindowBlock& b) -> std::vector<double>& { return sized(b.work[unit]); });
    } else {
      const NodeId region = e.region == 0                     ? outside()
                            : e.region == measure::whole_step ? names_.add(whole_step_region())
                                                              : id(Definition::region, e.region);
      const NodeSeries key{region, id(Definition::phase, h.phase), id(Definition::metric, e.series)};
      divide_to(local, h, e.value, [&](WindowBlock& b) -> std::vector<double>& { return sized(b.series[key]); });
    }
  }
  for (StepArrivals& a : rank.arrivals) {
    a.step = h.last_step;
    a.phase = id(Definition::phase, h.phase);
    arrivals_.push_back(std::move(a));
  }
  rank.arrivals.clear();
  rank.next_step = h.last_step + 1;
  const auto bracketed = rebalances_.find(rank.bracketed);
  if (rank.bracketed >= h.first_step && bracketed != rebalances_.end())
    bracketed->second.load += h.load / static_cast<double>(h.last_step - h.first_step + 1);
  rank.bracketed = -1;
}

std::int64_t Collector::final_steps() const {
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  for (const Rank& rank : ranks_) {
    if (rank.final_steps < 0 || rank.read < rank.bytes.size()) return -1;
    steps = std::min(steps, rank.final_steps);
  }
  return steps;
}

std::vector<std::pair<std::int64_t, bool>> Collector::steps_of_ranks() const {
  std::vector<std::pair<std::int64_t, bool>> out;
  for (const Rank& rank : ranks_) out.emplace_back(std::max(rank.next_step, rank.final_steps), rank.final_steps >= 0);
  return out;
}

std::int64_t Collector::snapshot_step(std::int64_t number, std::string& path) const {
  std::int64_t step = 0;
  for (const Rank& rank : ranks_) {
    if (rank.snapshots.size() < static_cast<std::size_t>(number)) return none;
    step = std::max(step, rank.snapshots[static_cast<std::size_t>(number - 1)].first);
    path = ranks_[0].snapshots[static_cast<std::size_t>(number - 1)].second;
  }
  return step;
}

std::vector<RebalanceAnswer> Collector::take_rebalances() {
  std::vector<RebalanceAnswer> out;
  for (auto& [step, answer] : rebalances_) out.push_back(answer);
  rebalances_.clear();
  return out;
}

}  // namespace effort::engine
