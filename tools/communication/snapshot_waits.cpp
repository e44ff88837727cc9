#include "tools/communication/snapshot_waits.hpp"

#include <algorithm>
#include <vector>

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

}  // namespace

ordered_json snapshot_waits_json(const SnapshotTraffic& traffic) {
  ordered_json out;
  out["totals_ns"] = nullptr;
  out["unmatched"] = nullptr;
  out["critical_path"] = nullptr;
  out["communication_seconds"] = seconds_by_rank(traffic);
  return out;
}

std::string snapshot_waits_text(const SnapshotTraffic& traffic, bool all) {
  const std::vector<double> seconds = seconds_by_rank(traffic);
  std::vector<std::size_t> order(seconds.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return seconds[a] > seconds[b]; });
  std::string out = "Most time in MPI calls went to messages from and to rank " + std::to_string(order[0]) + ": " +
                    seconds_text(seconds[order[0]]) +
                    ".\nA snapshot does not tell how much of that was waiting, and for whom: effort comm waits of a "
                    "trace does (EFFORT_TRACE=on).\n";
  constexpr std::size_t most_rows = 10;
  const std::size_t n = all ? order.size() : std::min(most_rows, order.size());
  Table table({{"rank"}, {"in calls, of both ends"}});
  for (std::size_t i = 0; i < n; ++i) table.add({std::to_string(order[i]), seconds_text(seconds[order[i]])});
  return out + "\nTime in calls for messages" +
         (n < order.size() ? ", the first " + std::to_string(n) + " of " + std::to_string(order.size()) +
                                 " ranks (--all shows the rest)"
                           : "") +
         "\n" + table.text();
}

}  // namespace effort::tools
