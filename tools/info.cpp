// effort info SNAP
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "runtime/snapshot/reader.hpp"
#include "runtime/snapshot/series.hpp"
#include "tools/commands.hpp"
#include "tools/info_json.hpp"
#include "tools/output.hpp"
#include "tools/snapshot_view.hpp"

namespace effort::tools {

namespace {

using snapshot::Run;
using Align = Table::Align;

std::string plural(std::int64_t count, const char* noun) { return std::to_string(count) + " " + noun + (count == 1 ? "" : "s"); }

std::string head(snapshot::Reader& reader, const snapshot::SeriesReader& series) {
  const Run& run = reader.run();
  const double rank_seconds = run.wall_seconds * run.ranks;
  double bytes = 0;
  for (std::int64_t b : run.own_bytes) bytes += static_cast<double>(b);
  const double nrmse = largest_nrmse(run, series);
  std::string out = name_text(run.name) + (run.job.empty() ? "" : " (job " + name_text(run.job) + ")") + ", effort " + name_text(run.version) + "\n";
  out += "  " + plural(run.ranks, "rank") + " on " + plural(run.nodes, "node") + ", " + plural(run.steps, "step");
  if (run.wall_seconds > 0) out += " in " + seconds_text(run.wall_seconds);
  out += "; windows of " + plural(run.window, "step") + ", hints " + plural(run.hint_lag, "step") + " later; load is " + name_text(run.load_metric) + "\n";
  out += "  file " + bytes_text(static_cast<double>(reader.size())) + ", history within an nrmse of " + percent_text(nrmse) + "; the library itself: " +
         seconds_text(run.own_cpu_seconds_total()) + " CPU" + (rank_seconds > 0 ? " (" + percent_text(run.own_cpu_seconds_total() / rank_seconds) + " of the ranks' time)" : "") +
         ", " + bytes_text(bytes) + "\n";
  if (run.merged_steps > 0) out += "  " + plural(run.merged_steps, "step") + " merged into others\n";
  if (run.lost_snapshots > 0) out += "  " + plural(run.lost_snapshots, "earlier snapshot") + " could not be written\n";
  return out;
}

/// The regions, most of the load metric first; those that it does not measure last.
std::vector<RegionRow> by_load(const Run& run) {
  std::vector<RegionRow> rows = regions_of(run);
  const auto total = [&](const RegionRow& row) {
    const std::int64_t index = run.metrics.empty() ? -1 : row.series[load_metric_of(run)];
    return index < 0 ? -1.0 : run.series[static_cast<std::size_t>(index)].total;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const RegionRow& a, const RegionRow& b) { return total(a) > total(b); });
  return rows;
}

std::string regions_table(const Run& run) {
  bool phases = false;
  for (const snapshot::Series& s : run.series) phases = phases || !s.phase.empty();
  Table table({{"region", Align::left}, {"kind", Align::left}, {phases ? "phase" : "", Align::left}, {"metric", Align::left}, {"total"}, {"mean/rank"}, {"max"}, {"of rank"}, {"imbalance"}});
  for (const RegionRow& row : by_load(run)) {
    for (std::size_t m = 0; m < run.metrics.size(); ++m) {
      if (row.series[m] < 0) continue;
      const snapshot::Series& s = run.series[static_cast<std::size_t>(row.series[m])];
      const std::string& unit = run.metrics[m].unit;
      table.add({name_text(s.region), snapshot::kind_name(s.kind), name_text(s.phase, 16), name_text(run.metrics[m].name, 20), amount_text(s.total, unit),
                 amount_text(s.mean_over_ranks, unit), amount_text(s.max_over_ranks, unit), std::to_string(s.max_rank), percent_text(s.imbalance)});
    }
  }
  return table.text();
}

std::string decision_text(const snapshot::Window& w) {
  if (w.rebalanced) return w.rebalanced_at >= 0 ? "done at " + std::to_string(w.rebalanced_at) : "done";
  return w.rebalance ? "recommended" : "";
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string windows_table(const Run& run) {
  Table table({{"steps", Align::left}, {"imbalance"}, {"gain/step"}, {"price"}, {"rebalance", Align::left}, {"strata"}, {"error"}, {"load balance"}, {"worst", Align::left}, {"why", Align::left}});
  for (const snapshot::Window& w : run.windows) {
    std::string worst = name_text(w.worst_region, 24);
    if (w.worst_rank >= 0) worst += (worst.empty() ? "rank " : " on rank ") + std::to_string(w.worst_rank);
    table.add({std::to_string(w.first) + ".." + std::to_string(w.last), percent_text(w.imbalance), seconds_text(w.gain_per_step), seconds_text(w.rebalance_cost), decision_text(w),
               std::to_string(w.strata), percent_text(w.prediction_error), percent_text(w.load_balance), worst, join(advice_names(w.advice))});
  }
  return table.text();
}

std::string strata_table(const snapshot::Strata& strata) {
  Table table({{"stratum", Align::left}, {"ranks"}, {"medoid"}, {"load/step"}, {"mostly", Align::left}});
  for (std::size_t k = 0; k < strata.medoid_rank.size(); ++k) {
    std::int64_t size = 0;
    for (std::int32_t label : strata.label) size += label == static_cast<std::int32_t>(k);
    double sum = 0, largest = 0;
    std::string region;
    for (std::size_t r = 0; r < strata.region.size(); ++r) {
      const double load = strata.region_load[k * strata.region.size() + r];
      sum += load;
      if (load > largest) region = name_text(strata.region[r]);
      largest = std::max(largest, load);
    }
    table.add({std::to_string(k), std::to_string(size), std::to_string(strata.medoid_rank[k]), seconds_text(sum), region});
  }
  return table.text();
}

std::string units_table(const Run& run) {
  Table table({{"unit of work", Align::left}, {"per unit"}, {"standard error"}});
  for (const snapshot::UnitCost& u : run.unit_costs) table.add({name_text(u.name), seconds_text(u.seconds_per_unit), seconds_text(u.error)});
  return table.text();
}

void print_text(snapshot::Reader& reader, const snapshot::SeriesReader& series) {
  const Run& run = reader.run();
  std::string out = head(reader, series);
  if (!run.series.empty()) out += "\nRegions\n" + regions_table(run);
  if (!run.windows.empty()) out += "\nWindows\n" + windows_table(run);
  if (!run.strata.empty()) {
    const snapshot::Strata& last = run.strata.back();
    out += "\nStrata of steps " + std::to_string(last.first) + ".." + std::to_string(last.last) + "\n" + strata_table(last);
  }
  if (!run.unit_costs.empty()) out += "\nUnit costs\n" + units_table(run);
  if (!run.notes.empty()) out += "\nNotes\n";
  for (const std::string& note : run.notes) out += "  " + name_text(note, 200) + "\n";
  std::fwrite(out.data(), 1, out.size(), stdout);
}

struct Arguments {
  std::string snapshot;
  bool json = false;
};

void run_info(const Arguments& arguments) {
  snapshot::Reader reader{std::filesystem::path(arguments.snapshot)};
  reader.verify();
  const snapshot::SeriesReader series(reader);
  if (arguments.json) {
    print_json(info_json(reader, series));
  } else {
    print_text(reader, series);
  }
}

}  // namespace

void add_info(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("info", "Checks a snapshot and says what is in it");
  command->add_option("SNAP", arguments->snapshot, "snapshot file")->required();
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->callback([arguments] { run_info(*arguments); });
}

}  // namespace effort::tools
