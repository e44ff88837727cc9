#include "tools/view/info_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "tools/output/most_awaited.hpp"
#include "tools/output/output.hpp"
#include "tools/symbols/call_path.hpp"
#include "tools/view/heat_map.hpp"
#include "tools/view/load_picture.hpp"
#include "tools/view/snapshot_view.hpp"
#include "tools/view/strata_moves.hpp"

namespace effort::tools {

namespace {

using record::Run;
using Align = Table::Align;

constexpr std::size_t most_region_lines = 14, most_window_lines = 6, map_lines = 10;
constexpr std::size_t most_of_note = 1000;  ///< characters
constexpr std::size_t label_width = 8;      ///< of the rank labels beside the heat map

std::string head(record::Reader& reader, const record::SeriesReader& series) {
  const Run& run = reader.run();
  const double own_share = run.own_cpu_share();
  double bytes = 0;
  for (std::int64_t b : run.own_bytes) bytes += static_cast<double>(b);
  const double nrmse = largest_nrmse(run, series);
  std::string out = name_text(run.name) + (run.job.empty() ? "" : " (job " + name_text(run.job) + ")") + ", effort " +
                    name_text(run.version) + "\n";
  out += "  " + plural(run.ranks, "rank") + " on " + plural(run.nodes, "node") + ", " + plural(run.steps, "step");
  if (run.wall_seconds > 0) out += " in " + seconds_text(run.wall_seconds);
  out += "; load is " + name_text(run.load_metric) + "\n";
  out += run.window > 0
             ? "  windows of " + plural(run.window, "step") + ", hints " + plural(run.hint_lag, "step") + " later"
             : std::string("  hints as often as they pay");
  out += "; history within an nrmse of " + percent_text(nrmse) + "\n";
  out += "  file " + bytes_text(static_cast<double>(reader.size())) +
         "; the library itself: " + seconds_text(run.own_cpu_seconds_total()) + " CPU" +
         (own_share >= 0 ? " (" + percent_text(own_share) + " of what the ranks computed)" : "") + ", " +
         bytes_text(bytes) + "\n";
  if (run.merged_steps > 0) out += "  " + plural(run.merged_steps, "step") + " merged into later ones\n";
  if (run.lost_snapshots > 0) out += "  " + plural(run.lost_snapshots, "earlier snapshot") + " could not be written\n";
  return out;
}

/// The regions in descending order of the load metric; those without a value last.
std::vector<RegionRow> by_load(const Run& run) {
  std::vector<RegionRow> rows = regions_of(run);
  const auto total = [&](const RegionRow& row) {
    const std::int64_t index = run.metrics.empty() ? -1 : row.series[load_metric_of(run)];
    return index < 0 ? -1.0 : run.series[static_cast<std::size_t>(index)].total;
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const RegionRow& a, const RegionRow& b) { return total(a) > total(b); });
  return rows;
}

/// "Regions", and which part of them is shown.
std::string title(const char* what, const char* which, std::size_t shown, std::size_t all) {
  std::string out = std::string("\n") + what;
  if (shown < all)
    out += std::string(", ") + which + " " + std::to_string(shown) + " of " + std::to_string(all) +
           " (--all shows the rest)";
  return out + "\n";
}

std::string regions_table(const Run& run, const InfoOptions& options) {
  bool phases = false;
  for (const record::Series& s : run.series) phases = phases || !s.phase.empty();
  std::vector<std::pair<const record::Series*, std::size_t>> lines;
  for (const RegionRow& row : by_load(run)) {
    for (std::size_t m = 0; m < run.metrics.size(); ++m) {
      if (row.series[m] >= 0) lines.emplace_back(&run.series[static_cast<std::size_t>(row.series[m])], m);
    }
  }
  const std::size_t all = lines.size();
  if (!options.all) lines.resize(std::min(all, most_region_lines));
  std::vector<std::string> names;
  for (const auto& [s, m] : lines) names.push_back(s->region);
  const std::size_t others = phases ? 82 : 66;
  const std::size_t width = options.terminal.interactive
                                ? std::clamp<std::size_t>(options.terminal.width, others + 18, others + 60) - others
                                : 100;
  names = table_names(names, options.symbols, width);
  Table table({{"region", Align::left},
               {"kind", Align::left},
               {phases ? "phase" : "", Align::left},
               {"metric", Align::left},
               {"total"},
               {"mean/rank"},
               {"max"},
               {"of rank"},
               {"imbalance"}});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const record::Series& s = *lines[i].first;
    const record::Metric& metric = run.metrics[lines[i].second];
    table.add({names[i], record::kind_name(s.kind), name_text(s.phase, 16), name_text(metric.name, 20),
               amount_text(s.total, metric.unit), amount_text(s.mean_over_ranks, metric.unit),
               amount_text(s.max_over_ranks, metric.unit), std::to_string(s.max_rank), percent_text(s.imbalance)});
  }
  return title("Regions", "the largest", lines.size(), all) + table.text();
}

std::string decision_text(const record::Window& w) {
  if (w.rebalanced) {
    const std::string at = w.rebalanced_at >= 0 ? " at " + std::to_string(w.rebalanced_at) : "";
    return w.rebalances > 1 ? std::to_string(w.rebalances) + " done, the last" + at : "done" + at;
  }
  return w.rebalance ? "recommended" : "";
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string windows_table(const Run& run, const InfoOptions& options) {
  const std::size_t all = run.windows.size(), first = options.all ? 0 : all - std::min(all, most_window_lines);
  Table table({{"steps", Align::left},
               {"imbalance"},
               {"gain/step"},
               {"price"},
               {"rebalance", Align::left},
               {"strata"},
               {"error"},
               {"load balance"},
               {"worst", Align::left},
               {"why", Align::left}});
  for (std::size_t i = first; i < all; ++i) {
    const record::Window& w = run.windows[i];
    std::string worst = w.worst_region_name.empty() ? "" : table_names({w.worst_region_name}, options.symbols, 24)[0];
    if (w.worst_rank >= 0) worst += (worst.empty() ? "rank " : " on rank ") + std::to_string(w.worst_rank);
    table.add({std::to_string(w.first) + ".." + std::to_string(w.last), percent_text(w.imbalance),
               seconds_text(w.gain_per_step), seconds_text(w.rebalance_cost), decision_text(w),
               std::to_string(w.strata), percent_text(w.prediction_error), percent_text(w.load_balance), worst,
               join(advice_names(w.advice))});
  }
  return title("Windows", "the last", all - first, all) + table.text();
}

std::string strata_table(const record::Strata& strata, Symbols* symbols) {
  Table table({{"stratum", Align::left}, {"ranks"}, {"medoid"}, {"load/step"}, {"mostly", Align::left}});
  std::vector<std::int64_t> sizes(strata.medoid_rank.size(), 0);
  for (std::int32_t label : strata.label) ++sizes[static_cast<std::size_t>(label)];
  for (std::size_t k = 0; k < strata.medoid_rank.size(); ++k) {
    double sum = 0, largest = 0;
    std::string region;
    for (std::size_t r = 0; r < strata.region.size(); ++r) {
      const double load = strata.region_load[k * strata.region.size() + r];
      sum += load;
      if (load > largest) region = strata.region[r];
      largest = std::max(largest, load);
    }
    table.add({std::to_string(k), std::to_string(sizes[k]), std::to_string(strata.medoid_rank[k]), seconds_text(sum),
               region.empty() ? "" : table_names({region}, symbols, 40)[0]});
  }
  return table.text();
}

/// How many ranks changed their stratum; empty if only the strata of one window are known.
std::string moves_text(const Run& run) {
  const StrataMovement movement = strata_movement(run, 2, 1);
  if (movement.moved.empty()) return "";
  std::int64_t all = 0;
  for (const std::int64_t moved : movement.moved) all += moved;
  std::string out = "  " + plural(all, "move") + " between strata in " +
                    plural(static_cast<std::int64_t>(movement.moved.size()) + 1, "window") + ", " +
                    std::to_string(movement.moved.back()) + " into the last";
  if (!movement.movers.empty())
    out += "; rank " + std::to_string(movement.movers[0].first) + " moved most often (" +
           std::to_string(movement.movers[0].second) + ")";
  return out + "\n";
}

std::string units_table(const Run& run) {
  Table table({{"unit of work", Align::left}, {"per unit"}, {"standard error"}});
  for (const record::UnitCost& u : run.unit_costs)
    table.add({name_text(u.name), seconds_text(u.seconds_per_unit), seconds_text(u.error)});
  return table.text();
}

/// The cell of a step in a row of `cols` cells.
std::size_t column_of(const LoadPicture& picture, std::int64_t step) {
  const auto at = std::upper_bound(picture.first_step.begin(), picture.first_step.end(), step);
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(at - picture.first_step.begin() - 1, 0));
}

/// A line with a mark under every column in which the host rebalanced; empty if it never did.
std::string rebalance_marks(const Run& run, const LoadPicture& picture, const Terminal& terminal) {
  std::vector<bool> marked(picture.cols(), false);
  bool any = false;
  for (const record::Window& w : run.windows) {
    if (!w.rebalanced) continue;
    marked[column_of(picture, w.rebalanced_at >= 0 ? w.rebalanced_at : w.last)] = true;
    any = true;
  }
  if (!any) return "";
  std::string line(label_width + 1, ' ');
  for (bool mark : marked) line += !mark ? " " : terminal.utf8 ? "▲" : "^";
  line.erase(line.find_last_not_of(' ') + 1);
  return line + " rebalanced\n";
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

/// Steps at both ends under the map, and the scale below.
std::string map_footer(const Run& run, const LoadPicture& picture, const HeatScale& scale, const Terminal& terminal) {
  const std::string last = std::to_string(run.steps - 1);
  std::string out = right("step", label_width) + " 0";
  if (picture.cols() > last.size() + 2) out += right(last, picture.cols() - 1);
  std::string unit;
  for (const record::Metric& m : run.metrics) unit = m.name == run.load_metric ? m.unit : unit;
  out += "\n" + std::string(label_width + 1, ' ') + amount_text(scale.low, unit) + " " + heat_legend(16, terminal) +
         " " + amount_text(scale.high, unit) + " per step";
  if (scale.most > scale.high) out += " (largest " + amount_text(scale.most, unit) + ")";
  return out + "\n";
}

}  // namespace

std::string plural(std::int64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::vector<std::string> table_names(const std::vector<std::string>& regions, Symbols* symbols, std::size_t width) {
  std::vector<std::string> out = symbols != nullptr ? symbols->short_names(regions) : regions;
  for (std::string& name : out)
    if (name.size() > width) name = without_modules(name);
  return name_texts(out, width);
}

/// @param of_windows  the saving according to the windows, for files without the sums of all steps; < 0: unknown
std::string saving_text(const Run& run, double of_windows) {
  if (const std::optional<IdealSaving> saving = ideal_saving(run)) {
    const std::string unit = run.metrics.empty() ? "" : run.metrics[load_metric_of(run)].unit;
    return "  ideal balance would " + std::string(saving->of_time ? "run this in " : "shorten the critical path by ") +
           percent_text(saving->share) + (saving->of_time ? " less time" : "") + " (critical path " +
           amount_text(run.critical_path, unit) + ", ideal " + amount_text(run.mean_path, unit) + ")\n";
  }
  return of_windows >= 0 ? "  ideal balance would run this in " + percent_text(of_windows) + " less time\n" : "";
}

std::string balance_text(const Run& run, const Terminal& terminal, Symbols* symbols) {
  if (run.windows.empty()) return "";
  std::vector<double> imbalance;
  double price = 0;
  std::int64_t recommended = 0, priced = 0;
  const record::Window* worst = nullptr;
  for (const record::Window& w : run.windows) {
    imbalance.push_back(w.imbalance);
    if (worst == nullptr || w.imbalance > worst->imbalance) worst = &w;
    recommended += w.rebalance;
    if (w.rebalance_cost >= 0) price = w.rebalance_cost, ++priced;
  }
  const std::size_t width = terminal.interactive ? std::clamp<std::size_t>(terminal.width, 60, 110) - 20 : 40;
  std::string out = "\nBalance\n";
  if (imbalance.size() > 1)
    out += "  imbalance   " + spark_line(imbalance, width, terminal) + "\n              ";
  else
    out += "  imbalance   ";
  out += percent_text(mean_imbalance(run)) + " on average, " + percent_text(worst->imbalance) +
         " in the worst window (steps " + std::to_string(worst->first) + ".." + std::to_string(worst->last) + ")\n";
  out += "  rebalances  " + std::to_string(run.times_rebalanced()) + " done, " + std::to_string(recommended) +
         " recommended" + (priced > 0 ? ", the last known price " + seconds_text(price) : "") + "\n";
  out += saving_text(run, mean_over_windows(run, &record::Window::ideal_saving));
  if (const std::optional<record::MostAwaited> most = record::most_to_blame(run))
    out +=
        "  " + most_awaited_text(*most, symbols != nullptr ? symbols->short_name(most->region) : most->region) + "\n";
  return out;
}

std::string load_map_text(record::Reader& reader, const record::SeriesReader& series, const Terminal& terminal,
                          std::size_t lines) {
  const Run& run = reader.run();
  const std::size_t per_line = heat_map_rows_per_line(terminal);
  const std::size_t width = std::clamp<std::size_t>(terminal.width, label_width + 10, 130) - label_width - 2;
  const LoadPicture picture = load_picture(reader, series, lines * per_line, width);
  if (picture.values.empty()) return "";
  const HeatScale scale = heat_scale(picture.values);
  const std::vector<std::string> map = heat_map(picture.values, picture.rows(), picture.cols(), scale, terminal);
  std::string out = "\nLoad (" + name_text(run.load_metric, 20) + " in compute regions): ranks down, steps across\n";
  for (std::size_t i = 0; i < map.size(); ++i) {
    const std::string rank = std::to_string(picture.first_rank[i * per_line]);
    out += right(i == 0                              ? "rank " + rank
                 : i + 1 == map.size() || i % 4 == 0 ? rank
                                                     : "",
                 label_width) +
           " " + map[i] + "\n";
  }
  return out + rebalance_marks(run, picture, terminal) + map_footer(run, picture, scale, terminal);
}

std::string info_text(record::Reader& reader, const record::SeriesReader& series, const InfoOptions& options) {
  const Run& run = reader.run();
  std::string out = head(reader, series);
  if (options.heat_map)
    out +=
        load_map_text(reader, series, options.terminal,
                      std::min<std::size_t>(map_lines, std::max<std::size_t>(4, static_cast<std::size_t>(run.ranks))));
  out += balance_text(run, options.terminal, options.symbols);
  if (!run.series.empty()) out += regions_table(run, options);
  if (!run.windows.empty()) out += windows_table(run, options);
  if (!run.strata.empty()) {
    const record::Strata& last = run.strata.back();
    out += "\nStrata of steps " + std::to_string(last.first) + ".." + std::to_string(last.last) + "\n" +
           strata_table(last, options.symbols) + moves_text(run);
  }
  if (!run.unit_costs.empty()) out += "\nUnit costs\n" + units_table(run);
  std::vector<std::string> notes;
  for (const std::string& note : run.notes)
    notes.push_back(options.symbols != nullptr ? options.symbols->sentence(note) : note);
  if (options.symbols != nullptr) {
    for (std::string& note : options.symbols->notes()) notes.push_back(std::move(note));
  }
  if (!notes.empty()) out += "\nNotes\n";
  for (const std::string& note : notes) out += "  " + name_text(note, most_of_note) + "\n";
  return fitted(out, options.terminal);
}

}  // namespace effort::tools
