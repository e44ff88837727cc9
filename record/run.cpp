#include "record/run.hpp"

#include <algorithm>
#include <numeric>

namespace effort::record {

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::compute: return "compute";
    case Kind::comm: return "comm";
    case Kind::wait: return "wait";
    case Kind::io: return "io";
  }
  return "unknown";
}

void Totals::add(const Totals& others) {
  total += others.total;
  if (largest_rank >= 0 && others.largest <= largest) return;
  largest = others.largest;
  largest_rank = others.largest_rank;
}

void Series::set_totals(const Totals& of_ranks, std::int32_t ranks) {
  total = of_ranks.total;
  mean_over_ranks = total / ranks;
  max_over_ranks = of_ranks.largest;
  max_rank = of_ranks.largest_rank;
  imbalance = mean_over_ranks > 0 ? max_over_ranks / mean_over_ranks - 1 : 0;
}

std::int64_t Run::times_rebalanced() const {
  return std::accumulate(windows.begin(), windows.end(), std::int64_t{0},
                         [](std::int64_t sum, const Window& w) { return sum + w.times_rebalanced(); });
}

double Run::computing_seconds() const {
  const std::string clock = load_metric == "cpu_time" ? load_metric : "time";
  double sum = 0;
  for (const Series& s : series)
    if (s.kind == Kind::compute && s.metric < metrics.size() && metrics[s.metric].name == clock) sum += s.total;
  return sum;
}

double Run::own_cpu_seconds_total() const {
  return std::accumulate(own_cpu_seconds.begin(), own_cpu_seconds.end(), 0.0);
}

double Run::own_cpu_share() const {
  const double computing = computing_seconds();
  return computing > 0 ? own_cpu_seconds_total() / computing : absent;
}

void Run::place(std::span<const std::int32_t> node_of_rank) {
  placement.clear();
  std::int32_t largest = 0;
  for (std::int32_t node : node_of_rank) {
    if (placement.empty() || placement.back().node != node) placement.push_back({node, 0});
    ++placement.back().count;
    largest = std::max(largest, node);
  }
  ranks = static_cast<std::int32_t>(node_of_rank.size());
  nodes = largest + 1;
}

std::vector<std::int32_t> Run::ranks_of_node(std::int32_t node) const {
  if (node == all_nodes) return ranks_by_node();
  std::vector<std::int32_t> out;
  out.reserve(static_cast<std::size_t>(count_of_node(node)));
  std::int32_t rank = 0;
  for (const NodeRun& run : placement) {
    if (run.node == node) {
      for (std::int32_t i = 0; i < run.count; ++i) out.push_back(rank + i);
    }
    rank += run.count;
  }
  return out;
}

std::vector<std::int32_t> Run::ranks_by_node() const {
  std::vector<std::int32_t> of_rank, out(static_cast<std::size_t>(ranks));
  for (const NodeRun& run : placement) of_rank.insert(of_rank.end(), static_cast<std::size_t>(run.count), run.node);
  std::iota(out.begin(), out.end(), 0);
  std::stable_sort(out.begin(), out.end(), [&](std::int32_t a, std::int32_t b) {
    return of_rank[static_cast<std::size_t>(a)] < of_rank[static_cast<std::size_t>(b)];
  });
  return out;
}

std::int64_t Run::count_of_node(std::int32_t node) const {
  std::int64_t count = 0;
  for (const NodeRun& run : placement) {
    if (run.node == node) count += run.count;
  }
  return count;
}

namespace {

/// @param delay  the metric with the seconds that others waited for a rank
std::optional<MostAwaited> most_awaited_by(const Run& run, const std::string& delay) {
  const auto is = [&](const Series& s, const std::string& metric) { return run.metrics[s.metric].name == metric; };
  const Series* most = nullptr;
  double all = 0;
  for (const Series& s : run.series) {
    if (!is(s, delay)) continue;
    all += s.total;
    if (!most || s.total > most->total) most = &s;
  }
  if (!most || most->max_over_ranks <= 0) return std::nullopt;
  MostAwaited out{most->max_rank, most->max_over_ranks, most->max_over_ranks / all, {}};
  double excess = 0;
  for (const Series& s : run.series) {
    if (s.kind != Kind::compute || !is(s, run.load_metric) || s.max_rank != out.rank || s.phase != most->phase)
      continue;
    if (s.max_over_ranks - s.mean_over_ranks <= excess) continue;
    excess = s.max_over_ranks - s.mean_over_ranks;
    out.region = s.region;
  }
  return out;
}

}  // namespace

std::optional<MostAwaited> most_awaited(const Run& run) { return most_awaited_by(run, "collective_delay"); }
std::optional<MostAwaited> most_to_blame(const Run& run) {
  std::optional<MostAwaited> out = most_awaited_by(run, "caused_wait");
  if (!out) return most_awaited(run);
  out->followed_back = true;
  return out;
}

}  // namespace effort::record
