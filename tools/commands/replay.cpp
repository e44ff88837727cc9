// effort replay --regions G --ranks P --steps T [--window W] [--lag 2] [--strata K] [--price SECONDS] cube.f64 [-o
// SNAP]
#include "analytics/replay/replay.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/commands/commands.hpp"
#include "tools/commands/kokkos_session.hpp"
#include "tools/commands/replay_trace.hpp"
#include "tools/files/raw_file.hpp"
#include "tools/files/replay_snapshot.hpp"
#include "tools/output/output.hpp"
#include "tools/view/info_json.hpp"
#include "tools/view/snapshot_view.hpp"

namespace effort::tools {

namespace {

using nlohmann::ordered_json;

/// A number from 1, or 0 for "auto".
int parse_count(const char* option, const std::string& text) {
  if (text == "auto") return 0;
  int k = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), k);
  if (error != std::errc() || end != text.data() + text.size() || k < 1)
    throw UsageError(std::string(option) + ": '" + text + "' is neither auto nor a number of at least 1");
  return k;
}

replay::Rebalancer rebalancer_of(const ReplayArguments& a) {
  try {
    return replay::parse_rebalancer(a.rebalancer);
  } catch (const std::invalid_argument& e) {
    throw UsageError(std::string("--rebalancer: ") + e.what());
  }
}

/// Names from a JSON file: a list, or an object with such a list as "names".
std::vector<std::string> region_names(const ReplayArguments& a) {
  std::vector<std::string> names;
  if (!a.names.empty()) {
    const std::vector<std::byte> bytes = read_bytes(a.names);
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    ordered_json json;
    try {
      json = ordered_json::parse(text, text + bytes.size());
      names = (json.is_object() ? json.at("names") : json).get<std::vector<std::string>>();
    } catch (const nlohmann::json::exception& e) {
      throw std::runtime_error(std::string(e.what()) + " (file '" + a.names + "'): give a JSON list of names");
    }
    if (names.size() != a.regions)
      throw std::runtime_error("the file holds " + std::to_string(names.size()) + " names (file '" + a.names +
                               "'): give one per region");
  }
  for (std::size_t g = names.size(); g < a.regions; ++g) names.push_back("region " + std::to_string(g));
  return names;
}

replay::Options options_of(const ReplayArguments& a) {
  replay::Options options;
  options.analysis.window = parse_count("--window", a.window);
  options.analysis.hint_lag = a.lag >= 0 || options.analysis.window == 0 ? a.lag : std::min(2, options.analysis.window);
  options.analysis.strata = parse_count("--strata", a.strata);
  options.analysis.strata_level = a.strata_level;
  options.analysis.strata_check = a.strata_level > 0;
  options.analysis.rebalance_threshold = a.threshold;
  options.analysis.seed = a.seed;
  options.price = a.price.value_or(-1);
  options.price_known = !a.price_unknown;
  options.rebalancer = rebalancer_of(a);
  options.virtual_ranks = a.virtual_ranks;
  // One node per 256 ranks, computed here because the recorder needs the number beforehand.
  const std::int64_t ranks = a.virtual_ranks > 0 ? a.virtual_ranks : static_cast<std::int64_t>(a.ranks);
  options.nodes = a.nodes > 0 ? a.nodes : static_cast<int>(std::clamp<std::int64_t>(ranks / 256, 1, 16));
  return options;
}

void print_report_json(const replay::Report& report, const std::vector<std::string>& names,
                       const std::optional<ReplayedTrace>& trace) {
  ordered_json out;
  out["windows"] = ordered_json::array();
  for (const replay::WindowReport& w : report.windows) {
    out["windows"].push_back(window_json(to_window(w, names)));
  }
  out["cost_never"] = report.cost_never;
  out["cost_chosen"] = report.chosen.cost;
  out["cost_best"] = report.best.cost;
  out["best_exact"] = report.best.exact;
  out["best_steps"] = report.best.steps;
  out["chosen_steps"] = report.chosen.steps;
  out["cost_fixed"] = ordered_json::object();
  for (std::size_t i = 0; i < replay::fixed_intervals.size(); ++i)
    out["cost_fixed"][std::to_string(replay::fixed_intervals[i])] = report.cost_fixed[i];
  out["stage_seconds"] = ordered_json::object();
  out["stage_seconds_all_nodes"] = ordered_json::object();
  out["stage_bytes"] = ordered_json::object();
  for (int stage = 0; stage < window::n_stages; ++stage) {
    const char* name = window::stage_name(static_cast<window::Stage>(stage));
    out["stage_seconds"][name] = report.stages[static_cast<std::size_t>(stage)].critical_seconds;
    out["stage_seconds_all_nodes"][name] = report.stages[static_cast<std::size_t>(stage)].total_seconds;
    out["stage_bytes"][name] = report.stages[static_cast<std::size_t>(stage)].bytes;
  }
  out["largest_window_seconds"] = report.largest_window_seconds;
  out["ranks"] = report.ranks;
  out["nodes"] = report.nodes;
  out["bytes_per_node"] = report.bytes_per_node;
  if (trace) out["trace"] = trace->json();
  print_json(out);
}

std::string decision_text(const replay::WindowReport& w) {
  if (w.rebalanced_at >= 0) return "from step " + std::to_string(w.rebalanced_at);
  return w.rebalance ? "too late" : "";
}

std::string saving_text(double cost, double never) {
  if (never <= 0) return "";
  const double share = (never - cost) / never;
  return share >= 0 ? percent_text(share) + " less than never" : percent_text(-share) + " more than never";
}

void print_report_text(const replay::Report& report, const std::vector<std::string>& names) {
  Table windows({{"steps", Table::Align::left},
                 {"imbalance"},
                 {"gain/step"},
                 {"saving"},
                 {"price"},
                 {"rebalance", Table::Align::left},
                 {"strata"},
                 {"error"},
                 {"sample"},
                 {"stratified"},
                 {"worst region", Table::Align::left},
                 {"why", Table::Align::left}});
  for (const replay::WindowReport& w : report.windows) {
    std::string why;
    for (const std::string& word : advice_names(w.advice)) why += (why.empty() ? "" : ", ") + word;
    windows.add({std::to_string(w.first) + ".." + std::to_string(w.last), percent_text(w.imbalance),
                 seconds_text(w.gain_per_step), seconds_text(w.expected_saving), seconds_text(w.rebalance_cost),
                 decision_text(w), std::to_string(w.strata), percent_text(w.prediction_error),
                 std::to_string(w.samples_unified), std::to_string(w.samples_stratified),
                 w.worst_region >= 0 ? name_text(names[static_cast<std::size_t>(w.worst_region)], 24) : "-", why});
  }
  Table costs({{"schedule", Table::Align::left}, {"rebalances"}, {"critical path"}, {"", Table::Align::left}});
  costs.add({"never", "0", seconds_text(report.cost_never), ""});
  costs.add({"chosen", std::to_string(report.chosen.steps.size()), seconds_text(report.chosen.cost),
             saving_text(report.chosen.cost, report.cost_never)});
  const auto fixed = std::min_element(report.cost_fixed.begin(), report.cost_fixed.end());
  costs.add({"best interval, every " +
                 std::to_string(replay::fixed_intervals[static_cast<std::size_t>(fixed - report.cost_fixed.begin())]) +
                 " steps",
             "", seconds_text(*fixed), saving_text(*fixed, report.cost_never)});
  costs.add({report.best.exact ? "best of all, in hindsight" : "best found, in hindsight",
             std::to_string(report.best.steps.size()), seconds_text(report.best.cost),
             saving_text(report.best.cost, report.cost_never)});
  Table stages({{"stage", Table::Align::left}, {"critical path"}, {"all nodes"}, {"arrays, a node"}});
  for (int stage = 0; stage < window::n_stages; ++stage) {
    const replay::StageUse& use = report.stages[static_cast<std::size_t>(stage)];
    stages.add({window::stage_name(static_cast<window::Stage>(stage)), seconds_text(use.critical_seconds),
                seconds_text(use.total_seconds), bytes_text(static_cast<double>(use.bytes))});
  }
  std::printf(
      "%lld ranks on %d node%s\n\nWindows\n%s\nCost (prices included)\n%s\nCPU time of the analysis, %s for the most "
      "expensive window, %s kept per node (arrays: memory that a stage fills or keeps)\n%s",
      static_cast<long long>(report.ranks), report.nodes, report.nodes == 1 ? "" : "s", windows.text().c_str(),
      costs.text().c_str(), seconds_text(report.largest_window_seconds).c_str(),
      bytes_text(static_cast<double>(report.bytes_per_node)).c_str(), stages.text().c_str());
}

}  // namespace

void run_replay(const ReplayArguments& a) {
  replay::Options options = options_of(a);
  const std::vector<double> values = read_raw_cube(a.in, a.regions, "region", a.ranks, a.steps);
  const std::vector<std::string> names = region_names(a);
  const KokkosSession kokkos;
  std::optional<ReplayRecorder> recorder;
  if (!a.out.empty()) recorder.emplace(names, options.nodes, a.passes, a.exact);
  std::optional<ReplayedTrace> trace;
  if (a.trace) trace.emplace(options.nodes, sampling::Accuracy{a.trace_confidence, a.trace_error});
  options.on_window = [&](int node, const window::Input& input, const window::Result& result) {
    if (recorder) recorder->add(node, input, result);
    if (trace) trace->add(node, input, result);
  };
  const replay::Cube cube{values, static_cast<int>(a.regions), static_cast<int>(a.ranks),
                          static_cast<std::int64_t>(a.steps)};
  const replay::Report report = on_data_of(a.in, [&] { return replay::replay(cube, options); });
  if (recorder) recorder->write(a.out, std::filesystem::path(a.in).stem().string(), options, report);
  if (a.json) {
    print_report_json(report, names, trace);
  } else {
    print_report_text(report, names);
    if (trace) std::printf("\n%s", trace->text().c_str());
  }
}

}  // namespace effort::tools
