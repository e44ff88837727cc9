#include "tools/report/report_communication.hpp"

#include <algorithm>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/communication/pair_traffic.hpp"
#include "tools/report/report_data.hpp"
#include "tools/report/report_matrix.hpp"

namespace effort::tools {

using communication::Pair;
using nlohmann::ordered_json;

namespace {

constexpr std::size_t most_frames = 64;  // of windows
constexpr std::size_t most_traffic_pairs = 200;
constexpr std::size_t most_wait_entries = 200;  // of each list of waits

ordered_json sentences(const std::string& lines) {
  ordered_json out = ordered_json::array();
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// The pairs with the most time first.
std::vector<const Pair*> by_time(const PairFindings& f) {
  std::vector<const Pair*> out;
  for (const Pair& pair : f.pairs.pairs) out.push_back(&pair);
  std::stable_sort(out.begin(), out.end(), [](const Pair* a, const Pair* b) { return a->time_ns > b->time_ns; });
  return out;
}

void add_pairs(ordered_json& out, const PairFindings& f, std::size_t most_bytes) {
  const std::vector<const Pair*> order = by_time(f);
  ordered_json& pairs = out["pairs"] = ordered_json::array();
  for (std::size_t i = 0; i < std::min(most_traffic_pairs, order.size()); ++i) {
    const Pair& p = *order[i];
    pairs.push_back({p.a, p.b, p.messages, p.bytes, p.time_ns, p.calls_ns});
  }
  out["pair_count"] = order.size();
  out["dendrogram"] = dendrogram_json(f, most_bytes);
}

ordered_json windows_json(const record::Run& run, const WindowTraffic& traffic, std::size_t most_bytes) {
  ordered_json out = {{"block", traffic.block}};
  ordered_json ranges = ordered_json::array(), frames = ordered_json::array();
  for (std::size_t i = 0; i < traffic.windows.size(); ++i) {
    const auto [first, last] = traffic.windows[i];
    ordered_json range = {first, last};
    if (run.window > 0) {
      range.push_back(first * run.window);
      range.push_back(std::min<std::int64_t>((last + 1) * run.window, run.steps) - 1);
    }
    ranges.push_back(std::move(range));
    frames.push_back(sparse_json(traffic.cells[i], false, most_bytes));
  }
  out["ranges"] = std::move(ranges);
  out["frames"] = std::move(frames);
  return out;
}

/// Cuts a list of an object to its first entries and adds how many there were.
void cut(ordered_json& object, const std::string& name) {
  object[name + "_count"] = object[name].size();
  ordered_json& list = object[name];
  if (list.size() > most_wait_entries) list.erase(list.begin() + most_wait_entries, list.end());
}

ordered_json waits_page_json(const WaitFindings& f) {
  ordered_json out = waits_json(f);
  for (const char* list : {"critical_path", "waited_for", "delays", "paths"}) cut(out, list);
  // By rank: the ranks that wait longest.
  const std::size_t ranks = f.totals.front().size();
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t r = 0; r < ranks; ++r) {
    std::int64_t sum = 0;
    for (const std::vector<std::int64_t>& by_rank : f.totals) sum += by_rank[r];
    if (sum > 0) order.emplace_back(-sum, r);
  }
  std::sort(order.begin(), order.end());
  ordered_json causes = ordered_json::array(), sums = ordered_json::array(), waiting = ordered_json::array();
  for (std::size_t c = 0; c < communication::n_causes; ++c) {
    causes.push_back(communication::cause_text(static_cast<communication::Cause>(c)));
    std::int64_t sum = 0;
    for (const std::int64_t ns : f.totals[c]) sum += ns;
    sums.push_back(sum);
  }
  for (std::size_t i = 0; i < std::min(most_wait_entries, order.size()); ++i) {
    ordered_json row = {order[i].second};
    for (const std::vector<std::int64_t>& by_rank : f.totals) row.push_back(by_rank[order[i].second]);
    waiting.push_back(std::move(row));
  }
  out.erase("totals_ns");
  out.erase("windows");
  out["causes"] = std::move(causes);
  out["cause_ns"] = std::move(sums);
  out["waiting"] = std::move(waiting);
  out["waiting_count"] = order.size();
  out["total_seconds"] = 1e-9 * f.total_ns;
  return out;
}

}  // namespace

ordered_json dendrogram_json(const PairFindings& f, std::size_t most_bytes) {
  if (f.linkage.empty() || f.linkage.size() * 16 > most_bytes) return nullptr;
  std::vector<std::uint32_t> merges;
  std::vector<float> distances;
  for (const communication::Merge& m : f.linkage) {
    merges.push_back(m.first);
    merges.push_back(m.second);
    distances.push_back(static_cast<float>(m.distance));
  }
  return {{"method", f.method == communication::Linkage::single ? "single" : "average"},
          {"merges", base64(std::as_bytes(std::span(merges)))},
          {"distances", base64(std::as_bytes(std::span(distances)))}};
}

ordered_json snapshot_communication(record::Reader& reader, std::size_t most_bytes) {
  // A cell takes some 10 characters.
  const WindowTraffic windows = window_traffic(reader, most_frames, most_bytes / 4 / 10);
  if (windows.empty()) return nullptr;
  const std::vector<PairTraffic> cells = total_traffic(reader);
  const PairFindings pairs(reader.run(), cells, communication::Linkage::average);
  ordered_json out = {{"answer", sentences(pairs_answer(pairs))}};
  out["matrix"] = sparse_json(cells, false, most_bytes / 2);
  if (windows.windows.size() > 1)
    out["windows"] = windows_json(reader.run(), windows, most_bytes / 4 / windows.windows.size());
  add_pairs(out, pairs, most_bytes / 4);
  return out;
}

ordered_json trace_communication(CommunicationTrace trace, std::int64_t origin_ns, std::size_t most_bytes) {
  ordered_json out;
  const WaitFindings waits(std::move(trace));
  const auto tree = std::make_shared<const communication::CallTree>(waits.tree);
  const std::vector<communication::Flow> flows = communication::message_matrix(waits.trace.record, tree->of_call);
  const PairFindings pairs(waits.trace.record, communication::Linkage::average);
  out["answer"] = sentences(waits_answer(waits));
  out["pairs_answer"] = sentences(pairs_answer(pairs));
  out["limits"] = waits_limits(waits);
  out["matrix"] = sparse_json(pair_traffic(flows, waits), true, most_bytes / 2);
  out["waits"] = waits_page_json(waits);
  add_pairs(out, pairs, most_bytes / 4);
  out["pair_details"] = pair_details_json(waits.trace, tree, flows, pairs, origin_ns, most_bytes / 4);
  const PatternFindings patterns(waits.trace.record, {});
  out.update(patterns_page_json(patterns, origin_ns));
  return out;
}

}  // namespace effort::tools
