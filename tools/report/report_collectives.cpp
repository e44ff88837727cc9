#include "tools/report/report_collectives.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/communication/snapshot_waits.hpp"
#include "tools/output/most_awaited.hpp"

namespace effort::tools {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t most_collectives = 200;  // of each list
constexpr std::size_t most_windows = 256;
constexpr std::size_t most_values = std::size_t{1} << 22;

using Steps = std::pair<std::int64_t, std::int64_t>;  // first, last

/// The windows of a run, or as many neighbours together as there is room for.
std::vector<Steps> windows_of(const record::Run& run) {
  std::vector<Steps> single;
  for (const record::Window& w : run.windows) {
    if (w.first < 0 || w.last < w.first || (!single.empty() && w.first <= single.back().second)) continue;
    single.emplace_back(w.first, w.last);
  }
  if (single.empty()) single.emplace_back(0, std::max<std::int64_t>(run.steps, 1) - 1);
  const std::size_t room = std::clamp<std::size_t>(most_values / static_cast<std::size_t>(run.ranks), 1, most_windows);
  const std::size_t together = (single.size() + room - 1) / room;
  std::vector<Steps> out;
  for (std::size_t i = 0; i < single.size(); i += together)
    out.emplace_back(single[i].first, single[std::min(i + together, single.size()) - 1].second);
  return out;
}

/// Calls `take(rank, step, value)` for each value of a metric of the run.
template <typename Take>
void each_value(const record::Run& run, const record::SeriesReader& series, const std::string& metric, Take take) {
  const record::Grid frame = series.frame(0);
  for (std::uint32_t i = 0; i < run.series.size(); ++i) {
    if (run.metrics[run.series[i].metric].name != metric) continue;
    for (const std::int32_t node : series.parts())
      series.each_piece(i, frame, node, [&](const record::Piece& piece) {
        for (std::size_t r = 0; r < piece.rows.size(); ++r)
          for (std::size_t c = 0; c < piece.cols; ++c)
            take(static_cast<std::size_t>(frame.first_rank[piece.rows[r]]), frame.first_step[piece.first_col + c],
                 piece.values[r * piece.cols + c]);
      });
  }
}

bool has(const record::Run& run, const std::string& metric) {
  return std::any_of(run.series.begin(), run.series.end(),
                     [&](const record::Series& s) { return run.metrics[s.metric].name == metric; });
}

/// [ranks] sums over the steps.
std::vector<double> totals_of(const record::Run& run, const record::SeriesReader& series, const std::string& metric) {
  std::vector<double> out(static_cast<std::size_t>(run.ranks), 0);
  each_value(run, series, metric, [&](std::size_t rank, std::int64_t, double value) { out[rank] += value; });
  return out;
}

/// The ranks with more than zero, the largest first.
std::vector<std::size_t> largest_first(const std::vector<double>& values) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] > 0) out.push_back(i);
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return out;
}

ordered_json list(const std::vector<std::size_t>& order, const std::function<ordered_json(std::size_t rank)>& row) {
  ordered_json out = ordered_json::array();
  for (std::size_t i = 0; i < std::min(most_collectives, order.size()); ++i) out.push_back(row(order[i]));
  return out;
}

ordered_json windows_json(const record::Run& run, const record::SeriesReader& series, const std::string& metric,
                          double nrmse) {
  const std::vector<Steps> windows = windows_of(run);
  const auto ranks = static_cast<std::size_t>(run.ranks);
  std::vector<double> delay(windows.size() * ranks, 0);
  double largest = 0;
  each_value(run, series, metric, [&](std::size_t rank, std::int64_t step, double value) {
    largest = std::max(largest, value);
    const auto after = std::upper_bound(windows.begin(), windows.end(), step,
                                        [](std::int64_t s, const Steps& window) { return s < window.first; });
    if (after == windows.begin() || step > (after - 1)->second) return;
    delay[static_cast<std::size_t>(after - windows.begin() - 1) * ranks + rank] += value;
  });
  const double error = 3 * nrmse * largest;  // of one step, with three standard deviations
  ordered_json out = ordered_json::array();
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const auto first = delay.begin() + static_cast<std::ptrdiff_t>(w * ranks), end = first + run.ranks;
    const auto most = std::max_element(first, end);
    const auto steps = static_cast<double>(windows[w].second - windows[w].first + 1);
    const bool known = *most > error * std::sqrt(steps);
    // Decoded values are approximate: some sums are below zero.
    const double all =
        std::accumulate(first, end, 0.0, [](double sum, double value) { return sum + std::max(value, 0.0); });
    out.push_back({windows[w].first, windows[w].second, known ? most - first : -1, known ? *most : 0.0, all});
  }
  return out;
}

}  // namespace

ordered_json collective_waits_json(record::Reader& reader, const record::SeriesReader& series, Symbols& symbols) {
  const record::Run& run = reader.run();
  if (!has(run, "collective_delay")) return nullptr;
  const bool followed = has(run, "caused_wait");
  const std::string metric = followed ? "caused_wait" : "collective_delay";
  const std::vector<double> delay = totals_of(run, series, metric);
  std::vector<double> waited = totals_of(run, series, "collective_wait"),
                      transfer = totals_of(run, series, "collective_transfer");
  if (followed) {
    const std::vector<double> late = totals_of(run, series, "late_sender_wait"),
                              messages = totals_of(run, series, "message_transfer");
    for (std::size_t r = 0; r < waited.size(); ++r) {
      waited[r] += late[r];
      transfer[r] += messages[r];
    }
  }
  const std::optional<record::MostAwaited> most = record::most_to_blame(run);
  ordered_json out;
  out["followed_back"] = followed;
  out["answer"] = most ? most_awaited_text(*most, symbols.short_name(most->region))
                       : std::string(followed ? "No rank waited for another one."
                                              : "No rank waited for another one at a collective.");
  out["totals"] = {std::accumulate(waited.begin(), waited.end(), 0.0),
                   std::accumulate(transfer.begin(), transfer.end(), 0.0)};
  const std::vector<std::size_t> awaited = largest_first(delay), waiters = largest_first(waited);
  out["ranks"] = list(awaited, [&](std::size_t r) -> ordered_json { return {r, delay[r], waited[r], transfer[r]}; });
  out["ranks_count"] = awaited.size();
  out["waiters"] = list(waiters, [&](std::size_t r) -> ordered_json { return {r, waited[r]}; });
  out["waiters_count"] = waiters.size();
  out["nrmse"] = waits_nrmse(run, series);
  out["windows"] = windows_json(run, series, metric, out["nrmse"].get<double>());
  return out;
}

}  // namespace effort::tools
