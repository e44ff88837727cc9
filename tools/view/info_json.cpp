#include "tools/view/info_json.hpp"

#include "tools/output/most_awaited.hpp"
#include "tools/output/output.hpp"
#include "tools/view/snapshot_view.hpp"
#include "tools/view/strata_moves.hpp"

#include <set>

namespace effort::tools {

using nlohmann::ordered_json;
using record::Run;

namespace {

/// Sums of the communication matrix over the run; null if COMM_MATRIX was off.
ordered_json communication_json(record::Reader& reader) {
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  double messages = 0, bytes = 0, seconds = 0;
  for (std::int32_t node = 0; node < reader.run().nodes; ++node)
    for (const record::Flow& f : reader.traffic(node).flows) {
      pairs.emplace(f.source, f.destination);
      messages += f.messages;
      bytes += f.bytes;
      seconds += f.seconds;
    }
  if (pairs.empty()) return nullptr;
  return {{"pairs", pairs.size()}, {"messages", messages}, {"bytes", bytes}, {"seconds", seconds}};
}

ordered_json series_json(const Run& run, const record::SeriesReader& reader, std::size_t index) {
  const record::Series& s = run.series[index];
  ordered_json out;
  out["total"] = s.total;
  out["mean_over_ranks"] = s.mean_over_ranks;
  out["max_over_ranks"] = s.max_over_ranks;
  out["max_rank"] = s.max_rank;
  out["imbalance"] = s.imbalance;
  out["nrmse"] = known(reader.nrmse(static_cast<std::uint32_t>(index)));
  out["bytes"] = reader.stored_bytes(static_cast<std::uint32_t>(index));
  return out;
}

/// Every metric under "metrics"; the numbers of the load metric also directly in the region, for readers of only one
/// metric.
ordered_json regions_json(const Run& run, const record::SeriesReader& reader, Symbols* symbols) {
  ordered_json out = ordered_json::array();
  for (const RegionRow& row : regions_of(run)) {
    ordered_json region;
    region["name"] = row.name;
    region["kind"] = record::kind_name(row.kind);
    region["phase"] = row.phase;
    if (symbols != nullptr && !call_paths(row.name).empty()) region["resolved"] = symbols->json(row.name);
    const std::int64_t load = row.series[load_metric_of(run)];
    if (load >= 0) {
      for (const char* key : {"total", "mean_over_ranks", "max_over_ranks", "imbalance"}) {
        region[key] = series_json(run, reader, static_cast<std::size_t>(load))[key];
      }
    }
    region["metrics"] = ordered_json::object();
    for (std::size_t m = 0; m < run.metrics.size(); ++m) {
      if (row.series[m] >= 0)
        region["metrics"][run.metrics[m].name] = series_json(run, reader, static_cast<std::size_t>(row.series[m]));
    }
    out.push_back(std::move(region));
  }
  return out;
}

ordered_json strata_json(const Run& run) {
  ordered_json out = ordered_json::array();
  for (const record::Strata& s : run.strata) {
    std::vector<std::int64_t> sizes(s.medoid_rank.size(), 0);
    for (std::int32_t label : s.label) ++sizes[static_cast<std::size_t>(label)];
    ordered_json loads = ordered_json::array();
    for (std::size_t k = 0; k < s.medoid_rank.size(); ++k) {
      const auto row = s.region_load.begin() + static_cast<std::ptrdiff_t>(k * s.region.size());
      loads.push_back(std::vector<double>(row, row + static_cast<std::ptrdiff_t>(s.region.size())));
    }
    out.push_back({{"first", s.first},
                   {"last", s.last},
                   {"sizes", sizes},
                   {"medoid_rank", s.medoid_rank},
                   {"stratum", s.label},
                   {"regions", s.region},
                   {"stratum_region_load", loads}});
  }
  return out;
}

ordered_json modules_json(const Run& run) {
  ordered_json out = ordered_json::array();
  for (const record::Module& m : run.modules)
    out.push_back({{"name", m.name}, {"path", m.path}, {"build_id", m.build_id}});
  return out;
}

ordered_json units_json(const Run& run) {
  ordered_json out = ordered_json::array();
  for (const record::UnitCost& u : run.unit_costs) {
    out.push_back({{"name", u.name}, {"seconds_per_unit", known(u.seconds_per_unit)}, {"error", known(u.error)}});
  }
  return out;
}

/// The costs of units of work in each window.
void add_window_costs(ordered_json& windows, const Run& run) {
  std::size_t at = 0;
  for (const record::WindowCost& c : run.window_costs) {
    while (at < run.windows.size() && run.windows[at].first < c.first) ++at;
    if (at == run.windows.size() || run.windows[at].first != c.first) continue;
    ordered_json& list = windows[at]["unit_costs"];
    if (list.is_null()) list = ordered_json::array();
    list.push_back({{"name", c.unit}, {"seconds_per_unit", known(c.seconds_per_unit)}, {"error", known(c.error)}});
  }
}

/// Ranks that changed stratum, window by window.
ordered_json moves_json(const Run& run) {
  const StrataMovement movement = strata_movement(run, 2, 0);
  ordered_json out = ordered_json::array();
  for (std::size_t i = 0; i < movement.moved.size(); ++i)
    out.push_back({{"first", movement.first[i]}, {"last", movement.last[i]}, {"moved", movement.moved[i]}});
  return out;
}

ordered_json speeds_json(const Run& run) {
  ordered_json out = ordered_json::array();
  for (const record::SpeedRun& s : run.speeds) out.push_back({{"ranks", s.count}, {"time", s.time}});
  return out;
}

}  // namespace

ordered_json window_json(const record::Window& w) {
  ordered_json out;
  out["first"] = w.first;
  out["last"] = w.last;
  out["rebalance"] = w.rebalance ? 1 : 0;
  out["rebalanced"] = w.rebalanced ? 1 : 0;
  out["strata"] = w.strata;
  out["rebalanced_at"] = w.rebalanced_at < 0 ? ordered_json(nullptr) : ordered_json(w.rebalanced_at);
  out["rebalances"] = w.times_rebalanced();
  out["advice"] = advice_names(w.advice);
  out["unified"] = w.samples_unified < 0 ? ordered_json(nullptr) : ordered_json(w.samples_unified);
  out["stratified"] = w.samples_stratified < 0 ? ordered_json(nullptr) : ordered_json(w.samples_stratified);
  out["worst_rank"] = w.worst_rank < 0 ? ordered_json(nullptr) : ordered_json(w.worst_rank);
  out["worst_region"] = w.worst_region_name.empty() ? ordered_json(nullptr) : ordered_json(w.worst_region_name);
  out["wait_seconds"] = w.wait_seconds;
#define EFFORT_NUMBER(name, unknown, unit, meaning) out[#name] = known(w.name);
  EFFORT_WINDOW_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
  return out;
}

ordered_json info_json(record::Reader& reader, const record::SeriesReader& series, Symbols* symbols) {
  const Run& run = reader.run();
  ordered_json out;
  out["version"] = run.version;
  out["name"] = run.name;
  out["job"] = run.job;
  out["ranks"] = run.ranks;
  out["nodes"] = run.nodes;
  out["steps"] = run.steps;
  out["window"] = run.window;
  out["hint_lag"] = run.hint_lag;
  out["load_metric"] = run.load_metric;
  out["metrics"] = ordered_json::array();
  out["metric_units"] = ordered_json::object();
  for (const record::Metric& m : run.metrics) {
    out["metrics"].push_back(m.name);
    out["metric_units"][m.name] = m.unit;
  }
  out["nrmse"] = known(largest_nrmse(run, series));
  out["wall_seconds"] = run.wall_seconds;
  const std::optional<IdealSaving> saving = ideal_saving(run);
  out["critical_path"] = known(run.critical_path);
  out["mean_path"] = known(run.mean_path);
  out["ideal_saving"] = saving ? ordered_json(saving->share) : ordered_json(nullptr);
  out["ideal_saving_of"] = saving ? ordered_json(saving->of_time ? "time" : "critical_path") : ordered_json(nullptr);
  if (const std::optional<record::MostAwaited> most = record::most_to_blame(run))
    out["most_awaited"] =
        most_awaited_json(*most, symbols != nullptr ? symbols->short_name(most->region) : most->region);
  else
    out["most_awaited"] = nullptr;
  out["own_cpu_seconds"] = run.own_cpu_seconds_total();
  out["own_cpu_share"] = known(run.own_cpu_share());
  out["own_cpu_seconds_per_node"] = run.own_cpu_seconds;
  out["own_bytes_per_node"] = run.own_bytes;
  out["merged_steps"] = run.merged_steps;
  out["lost_snapshots"] = run.lost_snapshots;
  out["bytes"] = reader.size();
  out["format"] = std::to_string(reader.format_major()) + "." + std::to_string(reader.format_minor());
  out["regions"] = regions_json(run, series, symbols);
  out["windows"] = ordered_json::array();
  for (const record::Window& w : run.windows) out["windows"].push_back(window_json(w));
  add_window_costs(out["windows"], run);
  out["strata"] = strata_json(run);
  out["strata_moves"] = moves_json(run);
  out["unit_costs"] = units_json(run);
  out["speeds"] = speeds_json(run);
  out["communication"] = communication_json(reader);
  out["modules"] = modules_json(run);
  out["notes"] = run.notes;
  out["symbol_notes"] = symbols != nullptr ? symbols->notes() : std::vector<std::string>();
  return out;
}

}  // namespace effort::tools
