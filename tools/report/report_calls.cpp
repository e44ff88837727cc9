#include "tools/report/report_calls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "analytics/codec/bytes.hpp"
#include "record/calls/file.hpp"
#include "record/calls/recording_file.hpp"
#include "tools/report/report_call_groups.hpp"
#include "tools/report/report_data.hpp"

namespace effort::tools {

using nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_contexts = 20'000, most_edges = 4'000, most_functions = 4'000, most_loops = 60,
                      most_streams = 500, most_call_pairs = 120, most_list_entries = 10;

/// Names of functions, each once.
class Texts {
 public:
  std::size_t index(const std::string& text) {
    const auto [found, is_new] = indices_.emplace(text, all_.size());
    if (is_new) all_.push_back(text);
    return found->second;
  }
  /// The value with its texts replaced by their indices.
  ordered_json replaced(const ordered_json& value) {
    if (value.is_string()) return index(value.get_ref<const std::string&>());
    if (!value.is_structured()) return value;
    ordered_json out = value.is_array() ? ordered_json::array() : ordered_json::object();
    for (auto at = value.begin(); at != value.end(); ++at)
      value.is_array() ? out.push_back(replaced(*at)) : void(out[at.key()] = replaced(*at));
    return out;
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::map<std::string, std::size_t> indices_;
  std::vector<std::string> all_;
};

CallColumn all_calls(const CallSource& s) {
  CallColumn out;
  for (std::size_t i = 1; i < s.counts.tree.nodes().size(); ++i) out.emplace_back(i, s.counts.tree.nodes()[i].calls);
  return out;
}

/// Own time, in microseconds, of some calls of the tree.
CallColumn own_times(std::span<const calls::ContextTree::Node> nodes) {
  const std::vector<CallCounts::Times> times = CallCounts::times_of(nodes);
  CallColumn out;
  for (std::size_t i = 1; i < times.size(); ++i)
    out.emplace_back(i, static_cast<std::uint64_t>(times[i].own / 1000 + 0.5));
  return out;
}

CallColumn own_times(const CallSource& s, const RankCalls& rank) {
  std::vector<calls::ContextTree::Node> nodes = s.counts.tree.nodes();
  for (calls::ContextTree::Node& node : nodes) node.calls = node.timed_calls = node.timed_ns = 0;
  for (const auto& [node, calls] : rank.column) nodes[node].calls = calls;
  for (const auto& [node, calls] : rank.timed_calls) nodes[node].timed_calls = calls;
  for (const auto& [node, ns] : rank.timed_ns) nodes[node].timed_ns = ns;
  return own_times(nodes);
}

/// The contexts with the most calls in and below them; with a context, those that called it.
std::vector<std::uint32_t> largest_contexts(const calls::ContextTree& tree, std::size_t most) {
  const auto& nodes = tree.nodes();
  std::vector<std::uint64_t> below(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 1;) {
    below[i] += nodes[i].calls;
    below[nodes[i].parent] += below[i];
  }
  std::vector<std::uint32_t> order(nodes.size() - 1);
  std::iota(order.begin(), order.end(), 1u);
  // A context has no more calls than its parent, and comes after it.
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return below[a] > below[b]; });
  order.resize(std::min(most, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

std::string packed_contexts(const CallSource& s, Texts& texts) {
  std::map<std::uint32_t, std::size_t> place;
  std::vector<std::byte> out;
  for (const std::uint32_t node : s.contexts) {
    const auto& n = s.counts.tree.nodes()[node];
    place.emplace(node, place.size());
    codec::put_varint(out, n.parent == 0 ? 0 : place.size() - 1 - place.at(n.parent));
    codec::put_varint(out, texts.index(s.names.name(n.function)));
  }
  return base64(out);
}

std::string packed_column(const CallSource& s, const CallColumn& column) {
  const auto& nodes = s.counts.tree.nodes();
  std::map<std::uint32_t, std::array<std::uint64_t, 2>> values;  // own, and those below that are not shown
  for (const auto& [node, value] : column) {
    std::uint32_t at = node;
    while (at != 0 && !std::binary_search(s.contexts.begin(), s.contexts.end(), at)) at = nodes[at].parent;
    values[at][at == node ? 0 : 1] += value;
  }
  std::vector<std::byte> out;
  for (const std::uint32_t node : s.contexts) {
    const auto [own, hidden] = values[node];
    codec::put_varint(out, own * 2 + (hidden > 0 ? 1 : 0));
    if (hidden > 0) codec::put_varint(out, hidden);
  }
  return base64(out);
}

template <typename Key>
std::string packed_values(const std::vector<Key>& keys, const std::map<Key, std::uint64_t>& values) {
  std::vector<std::byte> out;
  for (const Key& key : keys) {
    const auto at = values.find(key);
    codec::put_varint(out, at == values.end() ? 0 : at->second);
  }
  return base64(out);
}

ordered_json ranges_json(const CallSource& s, const CallGroup& group) {
  ordered_json out = ordered_json::array();
  for (const std::size_t member : group.members) {
    const std::int64_t rank = s.ranks[member].rank;
    if (!out.empty() && out.back()[1].get<std::int64_t>() == rank - 1) {
      out.back()[1] = rank;
    } else {
      out.push_back({rank, rank});
    }
  }
  return out;
}

ordered_json loops_json(const FunctionNames& names, std::span<const calls::Loop> loops, Texts& texts) {
  ordered_json out = ordered_json::array();
  for (const calls::Loop& loop : loops.first(std::min(most_loops, loops.size()))) {
    ordered_json body = ordered_json::array();
    for (const std::uint32_t f : loop.body) body.push_back(texts.index(names.name(f)));
    out.push_back({loop.function == 0 ? -1 : static_cast<std::int64_t>(texts.index(names.name(loop.function))),
                   std::move(body), loop.runs, loop.iterations, loop.least, loop.most});
  }
  return out;
}

ordered_json view_json(const CallSource& s, const CallColumn& column, std::span<const calls::StreamLists> lists,
                       const CommonTrees* trees, Texts& texts) {
  const auto& nodes = s.counts.tree.nodes();
  std::map<std::uint32_t, std::uint64_t> functions;
  std::map<CallEdge, std::uint64_t> edges;
  std::uint64_t calls = 0;
  for (const auto& [node, n] : column) {
    calls += n;
    functions[nodes[node].function] += n;
    if (nodes[node].parent != 0) edges[{nodes[nodes[node].parent].function, nodes[node].function}] += n;
  }
  ordered_json out = {{"calls", calls},
                      {"contexts", packed_column(s, column)},
                      {"functions", packed_values(s.functions, functions)},
                      {"edges", packed_values(s.edges, edges)}};
  const std::vector<calls::Loop> loops =
      trees == nullptr ? std::vector<calls::Loop>() : calls::loops_of(trees->tree(), lists);
  if (trees != nullptr) out["loops"] = loops_json(trees->names, loops, texts);
  out["loop_count"] = loops.size();
  return out;
}

void add_streams(ordered_json& out, const CallSource& s, Texts& texts) {
  ordered_json& streams = out["streams"] = ordered_json::array();
  for (std::size_t i = 0; i < std::min(most_streams, s.counts.streams.size()); ++i) {
    const record::calls::Stream& stream = s.input->names().streams[s.counts.streams[i]];
    const calls::ContextTree::Totals& t = s.counts.totals[i];
    ordered_json open = ordered_json::array();
    for (const std::uint32_t f : t.open) open.push_back(texts.index(s.names.name(f)));
    streams.push_back({rank_of(*s.input, s.counts.streams[i]), stream.thread, t.calls, t.depth, stream.left_out,
                       t.stray_returns, std::move(open)});
  }
  out["stream_count"] = s.counts.streams.size();
}

/// The times of single ranks, those that differ most from the mean first.
void add_rank_times(ordered_json& out, const CallSource& s, std::size_t most_bytes) {
  struct Rank {
    const RankCalls* calls;
    std::size_t view;
    double seconds;
  };
  std::vector<Rank> ranks;
  double mean = 0;
  for (const CallGroup& group : s.groups)
    for (const std::size_t member : group.members) {
      Rank rank{&s.ranks[member], group.view, 0};
      for (const auto& [node, us] : own_times(s, *rank.calls)) rank.seconds += 1e-6 * static_cast<double>(us);
      mean += rank.seconds / static_cast<double>(s.ranks.size());
      if (group.view > 0) ranks.push_back(rank);
    }
  std::stable_sort(ranks.begin(), ranks.end(), [&](const Rank& a, const Rank& b) {
    return std::abs(a.seconds - mean) > std::abs(b.seconds - mean);
  });
  ordered_json& list = out["rank_times"] = ordered_json::array();
  std::size_t bytes = 0;
  for (const Rank& rank : ranks) {
    std::string packed = packed_column(s, own_times(s, *rank.calls));
    bytes += packed.size();
    if (bytes > most_bytes) break;
    list.push_back({rank.calls->rank, rank.view, rank.seconds, std::move(packed)});
  }
}

ordered_json source_json(CallSource& s, std::size_t index, const std::string& path, const CommonTrees* trees,
                         Texts& texts, std::size_t most_bytes, std::uint64_t& ranks_left_out) {
  ordered_json out = {{"file", fs::path(path).filename().string()},
                      {"calls", s.counts.all_calls()},
                      {"depth", s.counts.depth()},
                      {"notes", s.names.notes}};
  out["hot"] = ordered_json::array();
  for (std::size_t i = 0; i < s.input->hot().size(); ++i)
    if (s.input->hot()[i]) out["hot"].push_back(texts.index(s.names.name(static_cast<std::uint32_t>(i + 1))));
  add_streams(out, s, texts);
  // A context takes some 6 bytes, and 2 in each view.
  s.contexts = largest_contexts(s.counts.tree, std::clamp<std::size_t>(most_bytes / 64, 50, most_contexts));
  for (const CallCounts::OfFunction& f : s.counts.by_function())
    if (s.functions.size() < most_functions) s.functions.push_back(f.function);
  const auto edges = frequent_edges(s.counts.tree.nodes());
  for (const auto& [edge, calls] : edges)
    if (s.edges.size() < most_edges) s.edges.push_back(edge);
  ordered_json functions = ordered_json::array();
  for (const std::uint32_t f : s.functions) functions.push_back(texts.index(s.names.name(f)));
  out["functions"] = std::move(functions);
  out["function_count"] = s.counts.by_function().size();
  out["contexts"] = packed_contexts(s, texts);
  out["context_count"] = s.counts.tree.nodes().size() - 1;
  std::vector<std::byte> packed;
  for (const CallEdge& edge : s.edges) {
    codec::put_varint(packed, texts.index(s.names.name(edge.first)));
    codec::put_varint(packed, texts.index(s.names.name(edge.second)));
  }
  out["edges"] = base64(packed);
  out["edge_count"] = edges.size();
  const std::span<const calls::StreamLists> lists =
      trees == nullptr ? std::span<const calls::StreamLists>() : std::span(trees->streams[index]);
  ordered_json& views = out["views"] = ordered_json::array();
  views.push_back(view_json(s, all_calls(s), lists, trees, texts));
  if (s.counts.timed) views.back()["times"] = packed_column(s, own_times(s.counts.tree.nodes()));
  std::size_t bytes = 0;
  for (CallGroup& g : s.groups) {
    const RankCalls& rank = s.ranks[g.members[0]];
    std::vector<calls::StreamLists> own;
    for (const std::size_t stream : rank.streams)
      if (trees != nullptr) own.push_back(lists[stream]);
    ordered_json view = view_json(s, rank.column, own, trees, texts);
    view["ranks"] = ranges_json(s, g);
    bytes += view.dump().size();
    if (bytes > most_bytes / 2) {
      ranks_left_out += g.members.size();
      continue;
    }
    g.view = views.size();
    views.push_back(std::move(view));
  }
  if (s.counts.timed) add_rank_times(out, s, most_bytes / 4);
  return out;
}

ordered_json pair_json(const std::vector<CallSource>& sources, const CommonTrees& trees, const CallGroupPair& pair,
                       Texts& texts) {
  const CallSource &a = sources[pair.source_a], &b = sources[pair.source_b];
  const RankCalls &x = a.ranks[a.groups[pair.a].members[0]], &y = b.ranks[b.groups[pair.b].members[0]];
  ordered_json out = {{"a", {pair.source_a, a.groups[pair.a].view}}, {"b", {pair.source_b, b.groups[pair.b].view}}};
  std::size_t streams = 0;
  ordered_json differ = ordered_json::array();
  for (const std::size_t i : x.streams) {
    const auto j = std::find_if(y.streams.begin(), y.streams.end(), [&](std::size_t stream) {
      return b.input->names().streams[stream].thread == a.input->names().streams[i].thread;
    });
    if (j == y.streams.end()) continue;
    ++streams;
    const CallDiff::Pair found = compare_streams(trees, pair.source_a, i, pair.source_b, *j);
    if (!found.first || differ.size() == 4) continue;
    ordered_json json = call_pair_json(*a.input, *b.input, trees.names, found);
    for (const char* list : {"loops", "calls"})
      if (json[list].size() > most_list_entries)
        json[list].erase(json[list].begin() + most_list_entries, json[list].end());
    differ.push_back(texts.replaced(json));
  }
  out["streams"] = streams;
  out["differ"] = std::move(differ);
  return out;
}

/// The trees of all sources, or why there are none.
std::unique_ptr<CommonTrees> trees_of(const std::vector<CallSource>& sources, std::string& problem) {
  std::vector<NamedCalls> inputs;
  for (const CallSource& s : sources) {
    if (s.input->has_names() != sources[0].input->has_names()) {
      problem = "Some of the files have names of functions and others only ids, so they cannot be compared.";
      return nullptr;
    }
    inputs.push_back({s.input.get(), &s.names});
  }
  try {
    return std::make_unique<CommonTrees>(common_trees(inputs, {}));
  } catch (const std::runtime_error&) {
    problem = "There are too many different calls to find loops and differences: use effort calls with fewer ranks.";
    return nullptr;
  }
}

}  // namespace

bool names_calls(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
      if (entry.path().extension() == ".rec") return true;
    return false;
  }
  std::array<std::byte, 8> start{};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return false;
  const std::span first = std::span(start).first(std::fread(start.data(), 1, start.size(), file.get()));
  return record::calls::is_calls_file(first) || record::calls::is_recording(first);
}

ordered_json calls_for_page(const std::vector<std::string>& inputs, const std::vector<fs::path>& search,
                            std::size_t most_bytes) {
  std::vector<CallSource> sources;
  for (const std::string& path : inputs) sources.push_back(read_call_source(path, search));
  std::string problem;
  const std::unique_ptr<CommonTrees> trees = trees_of(sources, problem);
  Texts texts;
  ordered_json out;
  std::uint64_t ranks_left_out = 0;
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    group_ranks(sources[i], trees.get(), i);
    list.push_back(
        source_json(sources[i], i, inputs[i], trees.get(), texts, most_bytes / sources.size(), ranks_left_out));
  }
  ordered_json pairs = ordered_json::array();
  std::size_t bytes = 0;
  if (trees) {
    for (const CallGroupPair& pair : call_group_pairs(sources, 4 * most_call_pairs)) {
      const bool shown =
          sources[pair.source_a].groups[pair.a].view > 0 && sources[pair.source_b].groups[pair.b].view > 0;
      if (!shown || pairs.size() == most_call_pairs || bytes > most_bytes / 4) continue;
      pairs.push_back(pair_json(sources, *trees, pair, texts));
      bytes += pairs.back().dump().size();
    }
  }
  out["texts"] = texts.all();
  out["sources"] = std::move(list);
  out["pairs"] = std::move(pairs);
  out["ranks_left_out"] = ranks_left_out;
  if (!problem.empty()) out["problem"] = problem;
  return out;
}

}  // namespace effort::tools
