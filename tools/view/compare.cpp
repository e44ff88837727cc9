#include "tools/view/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>

#include "tools/output/output.hpp"
#include "tools/view/snapshot_view.hpp"

namespace effort::tools {

using nlohmann::ordered_json;
using record::Kind;
using record::Run;
using record::Series;

namespace {

constexpr double negligible = 1e-3;  ///< of the time of all regions: smaller changes are ignored

std::size_t find_metric(const Run& run, const std::string& name) {
  std::size_t i = 0;
  while (i < run.metrics.size() && run.metrics[i].name != name) ++i;
  return i;
}

/// Rows of Run::metrics in both runs.
std::pair<std::size_t, std::size_t> choose_metric(const Run& a, const Run& b, const std::string& wanted) {
  const std::vector<std::string> candidates = wanted.empty()
                                                  ? std::vector<std::string>{a.load_metric, b.load_metric, "time"}
                                                  : std::vector<std::string>{wanted};
  for (const std::string& name : candidates) {
    const std::size_t in_a = find_metric(a, name), in_b = find_metric(b, name);
    if (in_a < a.metrics.size() && in_b < b.metrics.size()) return {in_a, in_b};
  }
  std::string common;
  for (const record::Metric& m : a.metrics) {
    if (find_metric(b, m.name) < b.metrics.size()) common += (common.empty() ? "" : ", ") + m.name;
  }
  const std::string asked = wanted.empty() ? "share no metric of time" : "do not both have the metric '" + wanted + "'";
  throw std::runtime_error("the runs " + asked +
                           (common.empty() ? " and no other metric either" : ": give --metric one of: " + common));
}

double per_step(double amount, const Run& run) { return run.steps > 0 ? amount / static_cast<double>(run.steps) : 0; }

RunSide run_side(const Run& run, std::size_t metric) {
  RunSide out;
  out.name = run.name;
  out.job = run.job;
  out.ranks = run.ranks;
  out.nodes = run.nodes;
  out.steps = run.steps;
  if (run.wall_seconds > 0) {
    out.wall_seconds = run.wall_seconds;
    if (run.steps > 0) out.seconds_per_step = per_step(run.wall_seconds, run);
  }
  out.own_cpu_share = run.own_cpu_share();
  for (const Series& s : run.series) {
    if (s.metric == metric) (s.kind == Kind::compute ? out.compute : out.other) += per_step(s.mean_over_ranks, run);
  }
  out.imbalance = mean_imbalance(run);
  out.load_balance = mean_over_windows(run, &record::Window::load_balance);
  out.parallel_efficiency = mean_over_windows(run, &record::Window::parallel_efficiency);
  const std::optional<IdealSaving> saving = ideal_saving(run);
  out.ideal_saving = saving ? saving->share : mean_over_windows(run, &record::Window::ideal_saving);
  out.rebalances = run.times_rebalanced();
  return out;
}

RegionSide region_side(const Run& run, const Series& s) {
  return {
      s.region,   per_step(s.total, run), per_step(s.mean_over_ranks, run), per_step(s.max_over_ranks, run), s.max_rank,
      s.imbalance};
}

/// Modules of both runs that have different builds: their addresses cannot be compared.
std::vector<std::string> rebuilt_modules(const Run& a, const Run& b) {
  std::vector<std::string> out;
  for (const record::Module& m : a.modules) {
    for (const record::Module& n : b.modules) {
      if (m.name == n.name && m.build_id != n.build_id) out.push_back(m.name);
    }
  }
  return out;
}

/// The key of a region, equal in both runs.
class Identity {
 public:
  Identity(Symbols& symbols, const std::vector<std::string>& rebuilt) : symbols_(symbols), rebuilt_(rebuilt) {}

  std::string operator()(const std::string& region) const {
    std::string out;
    for (const CallPath& path : call_paths(region)) {
      out += out.empty() ? path.call : " > " + path.call;
      for (const Frame& frame : path.frames) out += " " + of(frame);
    }
    return out.empty() ? region : out;
  }

 private:
  std::string of(const Frame& frame) const {
    const std::vector<Location>& at = symbols_.resolve(frame);
    const bool rebuilt = std::find(rebuilt_.begin(), rebuilt_.end(), frame.module) != rebuilt_.end();
    if (rebuilt && !at.empty() && !at.front().function.empty()) return frame.module + ":" + at.front().function;
    return frame.module + "+" + std::to_string(frame.address);
  }

  Symbols& symbols_;
  const std::vector<std::string>& rebuilt_;
};

using Key = std::tuple<std::string, Kind, std::string>;

/// The regions of both sides, in the order of the first run and then of the second.  Regions of a run that share their
/// function names are added up.
class Pairs {
 public:
  RegionChange& at(const Key& key, const std::string& name) {
    const auto [found, fresh] = index_.try_emplace(key, regions.size());
    if (fresh) regions.push_back({name, std::get<1>(key), std::get<2>(key), {}, {}, 0, Verdict::same});
    return regions[found->second];
  }
  std::vector<RegionChange> regions;

 private:
  std::map<Key, std::size_t> index_;
};

void add(std::optional<RegionSide>& side, const RegionSide& more) {
  if (!side) {
    side = more;
    return;
  }
  // The largest rank of the sum is not known; the sum of the largest is an upper bound.
  side->total += more.total;
  side->mean += more.mean;
  side->largest += more.largest;
  side->imbalance = side->mean > 0 ? side->largest / side->mean - 1 : 0;
}

void judge(RegionChange& r, double threshold, double all) {
  r.change = (r.b ? r.b->largest : 0) - (r.a ? r.a->largest : 0);
  if (!r.b) {
    r.verdict = Verdict::only_a;
  } else if (!r.a) {
    r.verdict = Verdict::only_b;
  } else if (std::abs(r.change) > threshold * r.a->largest && std::abs(r.change) > negligible * all) {
    r.verdict = r.change < 0 ? Verdict::better : Verdict::worse;
  }
}

ordered_json side_json(const std::optional<RegionSide>& side) {
  if (!side) return nullptr;
  return {{"name", side->name},          {"total_per_step", side->total},
          {"mean_per_step", side->mean}, {"max_per_step", side->largest},
          {"max_rank", side->max_rank},  {"imbalance", side->imbalance}};
}

ordered_json run_json(const RunSide& r) {
  ordered_json out;
  out["file"] = r.file;
  out["name"] = r.name;
  out["job"] = r.job;
  out["ranks"] = r.ranks;
  out["nodes"] = r.nodes;
  out["steps"] = r.steps;
  out["wall_seconds"] = known(r.wall_seconds);
  out["seconds_per_step"] = known(r.seconds_per_step);
  out["compute_per_step"] = r.compute;
  out["other_per_step"] = r.other;
  out["imbalance"] = known(r.imbalance);
  out["load_balance"] = known(r.load_balance);
  out["parallel_efficiency"] = known(r.parallel_efficiency);
  out["ideal_saving"] = known(r.ideal_saving);
  out["rebalances"] = r.rebalances;
  out["own_cpu_share"] = known(r.own_cpu_share);
  return out;
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::same: return "same";
    case Verdict::better: return "better";
    case Verdict::worse: return "worse";
    case Verdict::only_a: return "only_a";
    case Verdict::only_b: return "only_b";
  }
  return "unknown";
}

Comparison compare(const Run& a, const Run& b, Symbols& symbols_a, Symbols& symbols_b, const CompareOptions& options) {
  const auto [metric_a, metric_b] = choose_metric(a, b, options.metric);
  Comparison out;
  out.metric = a.metrics[metric_a].name;
  out.unit = a.metrics[metric_a].unit;
  out.threshold = options.threshold;
  out.a = run_side(a, metric_a);
  out.b = run_side(b, metric_b);
  const std::vector<std::string> rebuilt = rebuilt_modules(a, b);
  Pairs pairs;
  const Identity identity_a(symbols_a, rebuilt), identity_b(symbols_b, rebuilt);
  for (const Series& s : a.series) {
    if (s.metric == metric_a)
      add(pairs.at({identity_a(s.region), s.kind, s.phase}, symbols_a.readable(s.region)).a, region_side(a, s));
  }
  for (const Series& s : b.series) {
    if (s.metric == metric_b)
      add(pairs.at({identity_b(s.region), s.kind, s.phase}, symbols_b.readable(s.region)).b, region_side(b, s));
  }
  out.regions = std::move(pairs.regions);
  for (RegionChange& r : out.regions)
    judge(r, options.threshold, std::max(out.a.compute + out.a.other, out.b.compute + out.b.other));
  std::stable_sort(out.regions.begin(), out.regions.end(), [](const RegionChange& x, const RegionChange& y) {
    return std::abs(x.change) > std::abs(y.change);
  });
  for (const std::string& name : rebuilt)
    out.notes.push_back(name + " is of a different build in each run: its call paths are compared by function");
  for (Symbols* symbols : {&symbols_a, &symbols_b}) {
    for (std::string& note : symbols->notes()) {
      if (std::find(out.notes.begin(), out.notes.end(), note) == out.notes.end()) out.notes.push_back(std::move(note));
    }
  }
  return out;
}

ordered_json compare_json(const Comparison& c) {
  ordered_json out;
  out["metric"] = c.metric;
  out["unit"] = c.unit;
  out["threshold"] = c.threshold;
  out["a"] = run_json(c.a);
  out["b"] = run_json(c.b);
  out["regions"] = ordered_json::array();
  for (const RegionChange& r : c.regions) {
    ordered_json region;
    region["name"] = r.name;
    region["kind"] = record::kind_name(r.kind);
    region["phase"] = r.phase;
    region["verdict"] = verdict_name(r.verdict);
    region["change_per_step"] = r.change;
    region["change"] = r.a && r.b && r.a->largest > 0 ? ordered_json(r.change / r.a->largest) : ordered_json(nullptr);
    region["a"] = side_json(r.a);
    region["b"] = side_json(r.b);
    out["regions"].push_back(std::move(region));
  }
  out["notes"] = c.notes;
  return out;
}

}  // namespace effort::tools
