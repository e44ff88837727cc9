#include "runtime/history/history_store.hpp"

#include "analytics/codec/united_history.hpp"

#include <algorithm>

namespace effort::engine {

using measure::Definition;

namespace {

codec::Target target_of(const config::Precision& p) {
  switch (p.kind) {
    case config::Precision::Kind::nrmse: return codec::Target::nrmse(p.value);
    case config::Precision::Kind::max_bytes: return codec::Target::max_bytes(static_cast<std::size_t>(p.value));
    case config::Precision::Kind::passes: break;
  }
  return codec::Target::passes(static_cast<int>(p.value));
}

/// The largest tile that is coded at once while the run continues.  A tile of more than half this size is closed.
constexpr std::size_t largest_tile = std::size_t{1} << 18;

// The first `steps` of `columns` columns.
std::vector<double> columns_of(const std::vector<double>& values, int rows, int columns, int steps) {
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(steps));
  for (int r = 0; r < rows; ++r) {
    const auto row = values.begin() + static_cast<std::ptrdiff_t>(r) * columns;
    out.insert(out.end(), row, row + steps);
  }
  return out;
}

}  // namespace

HistoryStore::HistoryStore(int n_local, const config::Settings& settings, int n_nodes)
    : n_local_(n_local),
      target_(target_of(settings.precision)),
      exact_(settings.exact),
      // MAX_BYTES is promised for each node.
      united_(n_nodes > 1 && settings.precision.kind != config::Precision::Kind::max_bytes) {}

record::SeriesHistory& HistoryStore::series(const RunSeries& key) {
  auto at = series_.find(key);
  if (at == series_.end()) {
    codec::History history(static_cast<std::size_t>(n_local_), target_, largest_tile, united_);
    at = series_.emplace(key, record::SeriesHistory(steps_, std::move(history))).first;
  }
  return at->second;
}

void HistoryStore::append(const WindowBlock& block, int steps, const NameUnion& names) {
  if (steps <= 0) return;
  ExactWindow exact{block.first_step, steps, {}};
  for (const auto& [key, values] : block.series) {
    const RunSeries run_key = names.global(key);
    std::vector<double> columns = columns_of(values, n_local_, block.steps, steps);
    series(run_key).append(columns, static_cast<std::size_t>(steps));
    if (exact_) exact.values.emplace(run_key, std::move(columns));
  }
  steps_ += steps;
  may_have_work_ = true;
  keep_traffic(block, names);
  // A series that does not occur in this window is zero in it.
  const std::vector<double> zeros(static_cast<std::size_t>(n_local_) * static_cast<std::size_t>(steps), 0.0);
  for (auto& [key, s] : series_)
    if (s.end_step() < steps_) s.append(zeros, static_cast<std::size_t>(steps));
  if (exact_) exact_windows_.push_back(std::move(exact));
}

bool HistoryStore::work() {
  for (std::size_t i = 0; may_have_work_ && i < series_.size(); ++i) {
    if (worked_ == series_.end() || ++worked_ == series_.end()) worked_ = series_.begin();
    if (worked_->second.work()) return true;
  }
  may_have_work_ = false;
  return false;
}

void HistoryStore::keep_traffic(const WindowBlock& block, const NameUnion& names) {
  for (const auto& [key, sum] : block.flows) {
    const std::string& name = names.run().at(Definition::region, names.global(Definition::region, key.region)).name;
    const auto [at, fresh] = traffic_regions_.try_emplace(name, static_cast<std::int32_t>(traffic_.regions.size()));
    if (fresh) traffic_.regions.push_back(name);
    traffic_.flows.push_back(
        {windows_, key.source, key.destination, at->second, sum.messages, sum.bytes, sum.seconds, key.size_class});
  }
  ++windows_;
}

std::vector<std::pair<RunSeries, record::Totals>> HistoryStore::totals(std::span<const int> ranks) const {
  std::vector<std::pair<RunSeries, record::Totals>> out;
  for (const auto& [key, s] : series_) s.add_to(out.emplace_back(key, record::Totals{}).second, ranks);
  return out;
}

std::vector<record::Tile> HistoryStore::tiles(const Places& places, bool final) const {
  std::vector<record::Tile> tiles;
  for (const auto& [key, s] : series_) tiles.push_back(s.tile(places.at(key), final));
  return tiles;
}

std::vector<record::Tile> HistoryStore::united_tiles(Communicator& nodes, const Places& places) const {
  std::vector<std::int64_t> first;  // step of each series on the node that saw it first
  for (const auto& [key, place] : places) {
    const auto at = series_.find(key);
    first.push_back(at == series_.end() ? steps_ : at->second.first_step());
  }
  nodes.allreduce(std::span(first), ReduceOp::min);
  codec::UnitedHistories histories(nodes, target_);
  auto begin = first.begin();
  for (const auto& [key, place] : places) {
    const auto at = series_.find(key);
    const std::int64_t own = at == series_.end() ? steps_ : at->second.first_step();
    histories.add({at == series_.end() ? nullptr : &at->second.history(), static_cast<std::size_t>(n_local_),
                   static_cast<std::size_t>(own - *begin), static_cast<std::size_t>(steps_ - *begin)});
    ++begin;
  }
  std::vector<record::Tile> tiles;
  std::vector<std::vector<std::byte>> coded = histories.finish();
  for (std::size_t i = 0; i < coded.size(); ++i)
    tiles.push_back({static_cast<std::uint32_t>(i), first[i], std::move(coded[i])});
  return tiles;
}

record::NodePart HistoryStore::part(int node, const Places& places) const {
  record::NodePart part;
  part.node = node;
  for (const ExactWindow& w : exact_windows_) {
    record::ExactBlock block;
    block.first_step = w.first_step;
    block.steps = w.steps;
    for (const auto& [key, values] : w.values) {
      block.series.push_back(places.at(key));
      block.values.insert(block.values.end(), values.begin(), values.end());
    }
    part.exact.push_back(std::move(block));
  }
  part.traffic = traffic_;
  return part;
}

std::size_t HistoryStore::held_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [key, s] : series_) bytes += s.held_bytes();
  for (const auto& w : exact_windows_)
    for (const auto& [key, values] : w.values) bytes += values.size() * sizeof(double);
  return bytes + traffic_.flows.size() * sizeof(record::Flow);
}

}  // namespace effort::engine
