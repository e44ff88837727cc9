#include "tools/communication/snapshot_waits.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "record/series.hpp"
#include "tools/output/most_awaited.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

using nlohmann::ordered_json;

namespace {

/// [ranks] seconds in calls for messages to and from a rank, of both ends.
std::vector<double> seconds_by_rank(const SnapshotTraffic& traffic) {
  std::vector<double> out(static_cast<std::size_t>(traffic.n_ranks), 0);
  const auto add = [&](std::int32_t rank, double seconds) {
    if (rank >= 0 && rank < traffic.n_ranks) out[static_cast<std::size_t>(rank)] += seconds;
  };
  for (const SnapshotFlow& f : traffic.flows) {
    add(f.a, f.seconds);
    if (f.a != f.b) add(f.b, f.seconds);
  }
  return out;
}

/// [ranks] sums over steps, regions and phases of a metric; empty if no series has it.
std::vector<double> totals_of(const record::Run& run, const record::SeriesReader& series, const std::string& metric) {
  std::vector<double> out;
  const record::Grid frame = series.frame(0);
  for (std::uint32_t i = 0; i < run.series.size(); ++i) {
    if (run.metrics[run.series[i].metric].name != metric) continue;
    out.resize(static_cast<std::size_t>(run.ranks), 0);
    for (const std::int32_t node : series.parts())
      series.each_piece(i, frame, node, [&](const record::Piece& piece) {
        for (std::size_t r = 0; r < piece.rows.size(); ++r)
          for (std::size_t c = 0; c < piece.cols; ++c)
            out[static_cast<std::size_t>(frame.first_rank[piece.rows[r]])] += piece.values[r * piece.cols + c];
      });
  }
  return out;
}

std::vector<std::size_t> largest_first(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

/// A table of ranks, at most ten rows unless `all`.
std::string rank_table(const std::string& title, const std::vector<std::size_t>& order, Table table,
                       const std::function<std::vector<std::string>(std::size_t rank)>& row, bool all) {
  const std::size_t n = all ? order.size() : std::min(rows_shown, order.size());
  for (std::size_t i = 0; i < n; ++i) table.add(row(order[i]));
  return "\n" + title +
         (n < order.size() ? ", the first " + std::to_string(n) + " of " + std::to_string(order.size()) +
                                 " ranks (--all shows the rest)"
                           : "") +
         "\n" + table.text();
}

}  // namespace

double waits_nrmse(const record::Run& run, const record::SeriesReader& series) {
  double out = 0;
  for (std::uint32_t i = 0; i < run.series.size(); ++i) {
    const std::string& metric = run.metrics[run.series[i].metric].name;
    if (metric.starts_with("collective_") || metric == "late_sender_wait" || metric == "caused_wait")
      out = std::max(out, series.nrmse(i));
  }
  return out;
}

SnapshotWaits snapshot_waits(record::Reader& reader) {
  const record::Run& run = reader.run();
  SnapshotWaits out{snapshot_traffic(reader), {}, {}, {}, {}, record::most_to_blame(run), {}, 0};
  if (!out.most) return out;
  out.most_region = out.most->region;
  const record::SeriesReader series(reader);
  out.nrmse = waits_nrmse(run, series);
  out.waited = totals_of(run, series, "collective_wait");
  out.delay = totals_of(run, series, "collective_delay");
  for (std::vector<double>* const values : {&out.waited, &out.delay})
    values->resize(static_cast<std::size_t>(run.ranks));
  out.late_sender = totals_of(run, series, "late_sender_wait");
  out.caused = totals_of(run, series, "caused_wait");
  return out;
}

ordered_json snapshot_waits_json(const SnapshotWaits& waits) {
  const auto known = [](const std::vector<double>& values) {
    return values.empty() ? ordered_json() : ordered_json(values);
  };
  ordered_json out;
  out["totals_ns"] = nullptr;
  out["unmatched"] = nullptr;
  out["critical_path"] = nullptr;
  out["communication_seconds"] =
      known(waits.traffic.flows.empty() ? std::vector<double>() : seconds_by_rank(waits.traffic));
  out["collective_wait_seconds"] = known(waits.waited);
  out["collective_delay_seconds"] = known(waits.delay);
  out["late_sender_wait_seconds"] = known(waits.late_sender);
  out["caused_wait_seconds"] = known(waits.caused);
  out["collective_nrmse"] = waits.most ? ordered_json(waits.nrmse) : ordered_json();
  out["most_awaited"] = waits.most ? most_awaited_json(*waits.most, waits.most_region) : ordered_json();
  return out;
}

std::string snapshot_waits_text(const SnapshotWaits& waits, bool all) {
  std::string out;
  if (waits.most) {
    const bool followed = !waits.caused.empty() && !waits.late_sender.empty();
    std::vector<Table::Heading> columns{{"rank"}};
    if (followed) columns.push_back({"others waited because of it"});
    columns.insert(columns.end(), {{"others waited for it"}, {"it waited"}});
    if (followed) columns.push_back({"it waited for late senders"});
    out += most_awaited_text(*waits.most, waits.most_region) + "\n" +
           rank_table(
               followed ? "Waits at collectives and for late senders" : "Waits at collectives",
               largest_first(followed ? waits.caused : waits.delay), Table(columns),
               [&](std::size_t r) {
                 std::vector<std::string> row{std::to_string(r)};
                 if (followed) row.push_back(seconds_text(waits.caused[r]));
                 row.insert(row.end(), {seconds_text(waits.delay[r]), seconds_text(waits.waited[r])});
                 if (followed) row.push_back(seconds_text(waits.late_sender[r]));
                 return row;
               },
               all);
    if (waits.nrmse > 0)
      out += "These sums are from the compressed history, within an nrmse of " + percent_text(waits.nrmse) +
             ": small values are uncertain.\n";
  }
  if (waits.traffic.flows.empty()) return out;
  const std::vector<double> seconds = seconds_by_rank(waits.traffic);
  const std::vector<std::size_t> order = largest_first(seconds);
  return out + (out.empty() ? "" : "\n") + "Most time in MPI calls went to messages from and to rank " +
         std::to_string(order[0]) + ": " + seconds_text(seconds[order[0]]) +
         ".\neffort comm waits of a trace shows how much of it was waiting for messages, and for whom "
         "(EFFORT_TRACE=on).\n" +
         rank_table(
             "Time in calls for messages", order, Table({{"rank"}, {"in calls, of both ends"}}),
             [&](std::size_t r) -> std::vector<std::string> {
               return {std::to_string(r), seconds_text(seconds[r])};
             },
             all);
}

}  // namespace effort::tools
