#include "tools/communication/pairs_output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "record/text.hpp"
#include "tools/communication/pair_traffic.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

using communication::Linkage;
using communication::Pair;
using nlohmann::ordered_json;
using Align = Table::Align;

namespace {

constexpr std::size_t most_rows = 20;

std::string time_text(double ns) { return seconds_text(1e-9 * ns); }

std::string more(std::size_t shown, std::size_t all) {
  return shown < all ? ", the first " + std::to_string(shown) + " of " + std::to_string(all) + " (--all shows the rest)"
                     : "";
}

/// Both directions of flows together; the time of a pair is that in calls.
template <typename Flow>
communication::Pairs pairs_of(const std::vector<Flow>& flows) {
  communication::Pairs out;
  std::map<std::pair<std::int32_t, std::int32_t>, Pair> sums;
  for (const Flow& f : flows) {
    if (f.a == f.b) {
      out.to_self += static_cast<std::uint64_t>(std::llround(f.messages));
      continue;
    }
    const auto key = std::minmax(f.a, f.b);
    Pair& pair = sums.try_emplace(key, Pair{key.first, key.second}).first->second;
    pair.messages += static_cast<std::uint64_t>(std::llround(f.messages));
    pair.bytes += static_cast<std::uint64_t>(std::llround(f.bytes));
    pair.calls_ns += std::llround(1e9 * f.seconds);
    pair.time_ns = pair.calls_ns;
  }
  for (const auto& [key, pair] : sums) out.pairs.push_back(pair);
  return out;
}

}  // namespace

PairFindings::PairFindings(const communication::Record& record, Linkage linkage_method)
    : n_ranks(record.n_ranks), node_of(record.node_of), method(linkage_method) {
  pairs = communication::find_pairs(record);
  link();
}

PairFindings::PairFindings(const SnapshotTraffic& traffic, Linkage linkage_method)
    : n_ranks(traffic.n_ranks), node_of(traffic.node_of), method(linkage_method), of_snapshot(true) {
  pairs = pairs_of(traffic.flows);
  link();
}

PairFindings::PairFindings(const record::Run& run, const std::vector<PairTraffic>& cells, Linkage linkage_method)
    : n_ranks(static_cast<std::int32_t>(run.ranks)), method(linkage_method), of_snapshot(true) {
  for (const record::NodeRun& part : run.placement)
    node_of.insert(node_of.end(), static_cast<std::size_t>(part.count), part.node);
  pairs = pairs_of(cells);
  link();
}

void PairFindings::link() {
  constexpr std::int32_t most_ranks = 1 << 22;
  if (n_ranks > most_ranks)
    throw std::runtime_error("a dendrogram of " + std::to_string(n_ranks) + " ranks is too large, at most " +
                             std::to_string(most_ranks) + " are possible: effort comm matrix lists their messages");
  std::vector<communication::Distance> distances;
  double largest = 0;
  for (const Pair& pair : pairs.pairs) {
    if (pair.a < 0 || pair.b >= n_ranks) continue;  // of another world
    distances.push_back(
        {static_cast<std::uint32_t>(pair.a), static_cast<std::uint32_t>(pair.b), communication::pair_distance(pair)});
    largest = std::max(largest, distances.back().distance);
  }
  linkage = communication::sparse_linkage(static_cast<std::size_t>(n_ranks), distances, 2 * largest, method);
}

namespace {

ordered_json same_node(const PairFindings& f, const Pair& pair) {
  const auto node = [&](std::int32_t rank) {
    return rank >= 0 && static_cast<std::size_t>(rank) < f.node_of.size() ? f.node_of[static_cast<std::size_t>(rank)]
                                                                          : -1;
  };
  if (node(pair.a) < 0 || node(pair.b) < 0) return nullptr;
  return node(pair.a) == node(pair.b);
}

}  // namespace

std::string pairs_answer(const PairFindings& f) {
  if (f.pairs.pairs.empty()) return "No two ranks exchanged a message.\n";
  const Pair& first = *std::ranges::max_element(f.pairs.pairs, {}, &Pair::time_ns);
  const auto longest = static_cast<double>(first.time_ns);
  double time = 0, bytes = 0, across = 0;
  for (const Pair& pair : f.pairs.pairs) {
    time += static_cast<double>(pair.time_ns);
    bytes += static_cast<double>(pair.bytes);
    if (same_node(f, pair) == false) across += static_cast<double>(pair.bytes);
  }
  std::string out = "Ranks " + std::to_string(first.a) + " and " + std::to_string(first.b) +
                    " spent the most time on each other: " + time_text(longest) + ", " +
                    percent_text(time > 0 ? longest / time : 0) + " of all pairs' time, for " +
                    bytes_text(static_cast<double>(first.bytes)) + " in " + count_text(first.messages, "message") +
                    ".\n";
  out += count_text(f.pairs.pairs.size(), "pair") + " of " + std::to_string(f.n_ranks) + " ranks exchanged " +
         bytes_text(bytes) + (bytes > 0 ? "; " + percent_text(across / bytes) + " of that went to another node" : "") +
         ".\n";
  if (f.of_snapshot)
    out +=
        "A snapshot does not record when messages arrived: times are those that both ranks spent in calls for the "
        "pair.\n";
  return out;
}

namespace {

/// The merges of groups that communicate, nearest first.
std::string linkage_table(const PairFindings& f, bool all) {
  const std::size_t n = all ? f.linkage.size() : std::min(most_rows / 2, f.linkage.size());
  Table table({{"merge"}, {"of"}, {"and"}, {"distance"}, {"ranks"}});
  for (std::size_t i = 0; i < n; ++i) {
    const communication::Merge& m = f.linkage[i];
    char distance[32];
    std::snprintf(distance, sizeof distance, "%.4g", m.distance);
    table.add({std::to_string(f.n_ranks + static_cast<std::int32_t>(i)), std::to_string(m.first),
               std::to_string(m.second), distance, std::to_string(m.members)});
  }
  return std::string("\nDendrogram, ") + (f.method == Linkage::single ? "single" : "average") +
         " linkage, distance 1 / ns" + more(n, f.linkage.size()) + "\n" + table.text();
}

}  // namespace

ordered_json pairs_json(const PairFindings& f) {
  ordered_json out;
  out["ranks"] = f.n_ranks;
  ordered_json& pairs = out["pairs"] = ordered_json::array();
  for (const Pair& pair : f.pairs.pairs)
    pairs.push_back({{"a", pair.a},
                     {"b", pair.b},
                     {"messages", pair.messages},
                     {"bytes", pair.bytes},
                     {"time_ns", pair.time_ns},
                     {"calls_ns", pair.calls_ns},
                     {"same_node", same_node(f, pair)}});
  out["method"] = f.method == Linkage::single ? "single" : "average";
  ordered_json& linkage = out["linkage"] = ordered_json::array();
  for (const communication::Merge& m : f.linkage) linkage.push_back({m.first, m.second, m.distance, m.members});
  out["time_of"] = f.of_snapshot ? "calls" : "messages";
  out["to_self"] = f.pairs.to_self;
  out["unknown_ends"] = f.pairs.unknown_ends;
  return out;
}

std::string pairs_text(const PairFindings& f, bool all) {
  std::string out = pairs_answer(f);
  if (f.pairs.pairs.empty()) return out;
  std::vector<Pair> pairs = f.pairs.pairs;
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.time_ns > b.time_ns; });
  const std::size_t n = all ? pairs.size() : std::min(most_rows, pairs.size());
  Table table({{"ranks", Align::left}, {"node", Align::left}, {"messages"}, {"bytes"}, {"time"}, {"in calls"}});
  for (std::size_t i = 0; i < n; ++i) {
    const Pair& pair = pairs[i];
    const ordered_json same = same_node(f, pair);
    table.add({std::to_string(pair.a) + ", " + std::to_string(pair.b),
               same.is_null() ? "?"
               : same         ? "same"
                              : "other",
               std::to_string(pair.messages), bytes_text(static_cast<double>(pair.bytes)),
               time_text(static_cast<double>(pair.time_ns)), time_text(static_cast<double>(pair.calls_ns))});
  }
  out += "\nPairs by time" + more(n, pairs.size()) + "\n" + table.text() + linkage_table(f, all);
  if (f.pairs.to_self + f.pairs.unknown_ends > 0) out += "\nTrust\n";
  if (f.pairs.to_self > 0)
    out += "  " + count_text(f.pairs.to_self, "message") + " of ranks to themselves belong to no pair\n";
  if (f.pairs.unknown_ends > 0)
    out += "  " + count_text(f.pairs.unknown_ends, "message") +
           " without a start or an end in the trace: counted, but without a time\n";
  return out;
}

std::vector<NamedFlow> flows_of(const communication::Record& record) {
  const communication::CallTree tree = communication::call_tree(record);
  std::vector<NamedFlow> out;
  for (const communication::Flow& f : communication::message_matrix(record, tree.of_call))
    out.push_back({f.a, f.b, f.path == communication::none ? "" : communication::path_text(record, tree, f.path),
                   static_cast<double>(f.messages), static_cast<double>(f.bytes), 1e-9 * f.ns, f.sizes});
  return out;
}

std::vector<NamedFlow> flows_of(const SnapshotTraffic& traffic) {
  std::vector<NamedFlow> out;
  for (const SnapshotFlow& f : traffic.flows)
    out.push_back({f.a, f.b, traffic.regions[f.region], f.messages, f.bytes, f.seconds, f.sizes});
  return out;
}

namespace {

/// The smallest and the largest size of a class, in bytes.
std::uint64_t least_of(std::int32_t size_class) { return size_class > 0 ? std::uint64_t{1} << (size_class - 1) : 0; }
std::uint64_t most_of(std::int32_t size_class) { return size_class > 0 ? 2 * (least_of(size_class) - 1) + 1 : 0; }

std::string sizes_text(const std::vector<communication::SizeCount>& sizes) {
  if (sizes.empty()) return "";
  return bytes_text(static_cast<double>(least_of(sizes.front().size_class))) + " - " +
         bytes_text(static_cast<double>(most_of(sizes.back().size_class)));
}

}  // namespace

ordered_json matrix_json(const std::vector<NamedFlow>& flows, std::uint64_t unmatched) {
  ordered_json out;
  ordered_json& list = out["matrix"] = ordered_json::array();
  for (const NamedFlow& f : flows) {
    ordered_json sizes = ordered_json::array();
    for (const communication::SizeCount& s : f.sizes)
      sizes.push_back({{"least", least_of(s.size_class)}, {"most", most_of(s.size_class)}, {"messages", s.messages}});
    list.push_back({{"a", f.a},
                    {"b", f.b},
                    {"path", f.path},
                    {"messages", f.messages},
                    {"bytes", f.bytes},
                    {"seconds", f.seconds},
                    {"sizes", std::move(sizes)}});
  }
  out["unmatched"] = unmatched;
  return out;
}

std::string matrix_text(const std::vector<NamedFlow>& flows, std::uint64_t unmatched, bool all) {
  const std::string missing = unmatched == 0 ? ""
                                             : "\nTrust\n  " + count_text(unmatched, "message") +
                                                   " with only one end in the trace: not counted here\n";
  if (flows.empty()) return (unmatched == 0 ? "No rank sent a message.\n" : "No message has both ends.\n") + missing;
  double messages = 0, bytes = 0, seconds = 0;
  std::map<std::string, NamedFlow> by_path;
  std::map<std::pair<std::int32_t, std::int32_t>, bool> pairs;
  for (const NamedFlow& f : flows) {
    messages += f.messages, bytes += f.bytes, seconds += f.seconds;
    NamedFlow& sum = by_path[f.path];
    sum.messages += f.messages, sum.bytes += f.bytes, sum.seconds += f.seconds;
    pairs[{f.a, f.b}] = true;
  }
  const auto most = std::max_element(by_path.begin(), by_path.end(),
                                     [](const auto& a, const auto& b) { return a.second.seconds < b.second.seconds; });
  std::string out = count_text(static_cast<std::uint64_t>(std::llround(messages)), "message") + " with " +
                    bytes_text(bytes) + " went between " + count_text(pairs.size(), "ordered pair") +
                    " of ranks; the ranks spent " + seconds_text(seconds) + " in calls for them, " +
                    percent_text(seconds > 0 ? most->second.seconds / seconds : 0) + " of it in `" +
                    name_text(most->first, 60) + "`.\n";
  std::vector<NamedFlow> sorted = flows;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const NamedFlow& a, const NamedFlow& b) { return a.seconds > b.seconds; });
  const std::size_t n = all ? sorted.size() : std::min(most_rows, sorted.size());
  Table table({{"from"}, {"to"}, {"call path", Align::left}, {"messages"}, {"bytes"}, {"sizes"}, {"time"}});
  for (std::size_t i = 0; i < n; ++i) {
    const NamedFlow& f = sorted[i];
    table.add({std::to_string(f.a), std::to_string(f.b), name_text(f.path, 60),
               std::to_string(std::llround(f.messages)), bytes_text(f.bytes), sizes_text(f.sizes),
               seconds_text(f.seconds)});
  }
  return out + "\nFlows by time" + more(n, sorted.size()) + "\n" + table.text() + missing;
}

}  // namespace effort::tools
