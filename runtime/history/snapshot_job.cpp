#include "runtime/history/snapshot_job.hpp"

#include "record/writer.hpp"

#include <algorithm>
#include <numeric>

namespace effort::engine {

using measure::Definition;

void SnapshotJob::unite_stats() {
  std::vector<Stat> mine;
  for (const auto& [key, totals] : history_.totals(ranks_)) mine.push_back({key, totals, 0});
  // Add in the order of the nodes, so that floating-point sums are the same on all of them.
  for (const Stat& s : nodes_.allgatherv(std::span<const Stat>(mine)).values) {
    auto [at, fresh] = stats_.try_emplace(s.key, s);
    if (!fresh) at->second.totals.add(s.totals);
  }
}

HistoryStore::Places SnapshotJob::places() const {
  HistoryStore::Places out;
  for (const auto& [key, stat] : stats_) out.emplace(key, static_cast<std::uint32_t>(out.size()));
  return out;
}

/// This node's own contribution, including its tiles unless they are united.  Collective.
std::vector<std::byte> SnapshotJob::own_part(bool final, bool united) {
  record::NodePart part = history_.part(nodes_.rank(), places());
  if (united) return record::encode_part(part);
  part.tiles = history_.tiles(places(), final);
  std::vector<double> nrmse(stats_.size(), 0.0);
  for (const record::Tile& tile : part.tiles) nrmse[tile.series] = codec::HistoryReader(tile.history).nrmse();
  nodes_.allreduce(std::span(nrmse), ReduceOp::max);
  std::size_t i = 0;
  for (auto& [key, stat] : stats_) stat.nrmse = nrmse[i++];
  return record::encode_part(part);
}

/// The combined histories of all nodes on node 0; nothing elsewhere.  Collective.
std::vector<std::byte> SnapshotJob::united_part() {
  const std::vector<record::Tile> tiles = history_.united_tiles(nodes_, places());
  if (nodes_.rank() != 0) return {};
  std::size_t i = 0;
  for (auto& [key, stat] : stats_) stat.nrmse = codec::HistoryReader(tiles[i++].history).nrmse();
  return record::encode_united(tiles);
}

void SnapshotJob::collect_facts(double own_cpu_seconds, std::size_t other_bytes) {
  const std::size_t bytes = segment_.bytes() + history_.held_bytes() + other_bytes;
  NodeFacts facts{own_cpu_seconds, 0, static_cast<std::int64_t>(bytes), 0};
  for (int l = 0; l < segment_.n_local(); ++l) {
    facts.merged_steps += segment_.rank(l).merged_steps.load(std::memory_order_relaxed);
    facts.measuring_seconds =
        std::max(facts.measuring_seconds,
                 static_cast<double>(segment_.rank(l).measuring_ns.load(std::memory_order_relaxed)) * 1e-9);
  }
  facts_ = nodes_.gatherv(std::span<const NodeFacts>(&facts, 1), 0).values;
}

std::vector<std::vector<std::byte>> SnapshotJob::gather(bool final, double own_cpu_seconds, std::size_t other_bytes) {
  unite_stats();
  const bool united = final && history_.united();
  const std::vector<std::byte> encoded = own_part(final, united);
  const std::vector<std::byte> together = united ? united_part() : std::vector<std::byte>{};
  collect_facts(own_cpu_seconds, other_bytes);
  const auto all = nodes_.gatherv(std::span<const std::byte>(encoded), 0);
  std::vector<std::vector<std::byte>> parts;
  for (int node = 0; nodes_.rank() == 0 && node < nodes_.size(); ++node)
    parts.emplace_back(all.of(node).begin(), all.of(node).end());
  if (!together.empty()) parts.push_back(together);
  return parts;
}

void SnapshotJob::complete(record::Run& run, const RunNames& names, int n_ranks) const {
  run.steps = history_.steps();
  for (const NodeFacts& f : facts_) {
    run.own_cpu_seconds.push_back(f.own_cpu_seconds);
    run.own_bytes.push_back(f.own_bytes);
    run.merged_steps += f.merged_steps;
    run.measuring_seconds = std::max(run.measuring_seconds, f.measuring_seconds);
  }
  if (run.merged_steps > 0)
    run.notes.push_back(std::to_string(run.merged_steps) +
                        " steps were merged with their neighbours because a rank's ring was full");
  const bool phases = names.of(Definition::phase).size() > 1;
  for (const auto& [key, stat] : stats_) {
    const RunNames::Item& region = names.at(Definition::region, key.region);
    record::Series s;
    s.region = region.name;
    static_assert(int(record::Kind::comm) == int(measure::Kind::comm) &&
                  int(record::Kind::io) == int(measure::Kind::io));
    s.kind = static_cast<record::Kind>(region.kind);
    if (phases) s.phase = names.at(Definition::phase, key.phase).name;
    s.metric = static_cast<std::uint32_t>(key.metric);
    s.set_totals(stat.totals, n_ranks);
    s.nrmse = stat.nrmse;
    run.series.push_back(std::move(s));
  }
}

void write_snapshot_file(const record::Run& run, const std::vector<std::vector<std::byte>>& parts,
                         const std::string& directory, const std::string& path) {
  const std::vector<std::byte> bytes = record::encode(run, parts);
  if (path.empty())
    record::write_snapshot(directory, run, bytes);
  else
    record::write_file(path, bytes);
}

}  // namespace effort::engine
