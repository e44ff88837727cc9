// The output of `effort calls info`.
#include <algorithm>
#include <tuple>

#include "tools/calls/analysis.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

namespace {

using Align = Table::Align;
constexpr std::size_t call_rows = 12, group_rows = 5, most_groups = 8;

/// The contexts with the most own time, or else the most calls, as nodes of the tree.
std::vector<std::size_t> hot_contexts(const CallCounts& counts, std::span<const CallCounts::Times> times,
                                      std::size_t most) {
  std::vector<std::size_t> nodes;
  for (std::size_t node = 1; node < counts.tree.nodes().size(); ++node) nodes.push_back(node);
  const std::size_t n = std::min(most, nodes.size());
  std::partial_sort(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(n), nodes.end(),
                    [&](std::size_t a, std::size_t b) {
                      return std::tuple(times[a].own, counts.tree.nodes()[a].calls, b) >
                             std::tuple(times[b].own, counts.tree.nodes()[b].calls, a);
                    });
  nodes.resize(n);
  return nodes;
}

nlohmann::ordered_json names_of(const FunctionNames& names, std::span<const std::uint32_t> functions) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const std::uint32_t f : functions) out.push_back(names.name(f));
  return out;
}

std::vector<std::string> hot_functions(const CallInput& input, const FunctionNames& names) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < input.hot().size(); ++i)
    if (input.hot()[i]) out.push_back(names.name(static_cast<std::uint32_t>(i + 1)));
  return out;
}

/// Null without time stamps.
nlohmann::ordered_json seconds_json(const CallCounts& counts, double ns) {
  return counts.timed ? nlohmann::ordered_json(ns * 1e-9) : nullptr;
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : percent_text(static_cast<double>(part) / static_cast<double>(whole));
}

nlohmann::ordered_json functions_json(const CallsInfo& info, std::span<const CallCounts::OfFunction> functions) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const CallCounts::OfFunction& f : functions)
    out.push_back({{"name", info.names.name(f.function)},
                   {"calls", f.calls},
                   {"timed_calls", f.timed_calls},
                   {"own_seconds", seconds_json(info.counts, f.ns.own)},
                   {"inclusive_seconds", seconds_json(info.counts, f.ns.inclusive)}});
  return out;
}

nlohmann::ordered_json edges_json(const CallsInfo& info, std::span<const std::pair<CallEdge, std::uint64_t>> edges) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const auto& [edge, calls] : edges)
    out.push_back(
        {{"caller", info.names.name(edge.first)}, {"callee", info.names.name(edge.second)}, {"calls", calls}});
  return out;
}

std::string more_text(std::size_t all, std::size_t rows, const char* of) {
  return all <= rows ? "" : "  " + std::to_string(all - rows) + " more" + of + ": --all\n";
}

std::string functions_text(const CallsInfo& info, std::span<const CallCounts::OfFunction> functions,
                           std::uint64_t calls, std::size_t rows) {
  std::vector<Table::Heading> columns{{"function", Align::left}, {"calls"}, {"share"}};
  if (info.counts.timed) columns.insert(columns.end(), {{"timed"}, {"own time"}, {"inclusive"}});
  Table table(columns);
  const std::size_t shown = std::min(rows, functions.size());
  std::vector<std::string> names;
  for (const CallCounts::OfFunction& f : functions.first(shown)) names.push_back(info.names.name(f.function));
  names = name_texts(names, 60);
  for (std::size_t i = 0; i < shown; ++i) {
    const CallCounts::OfFunction& f = functions[i];
    std::vector<std::string> row{names[i], std::to_string(f.calls), share_text(f.calls, calls)};
    if (info.counts.timed)
      row.insert(row.end(),
                 {std::to_string(f.timed_calls), nanoseconds_text(f.ns.own), nanoseconds_text(f.ns.inclusive)});
    table.add(row);
  }
  return table.text() + more_text(functions.size(), rows, " functions");
}

std::string edges_text(const CallsInfo& info, std::span<const std::pair<CallEdge, std::uint64_t>> edges,
                       std::size_t rows) {
  if (edges.empty()) return "";
  Table table({{"calls"}, {"from", Align::left}, {"to", Align::left}});
  for (const auto& [edge, calls] : edges.first(std::min(rows, edges.size())))
    table.add({std::to_string(calls), name_text(info.names.name(edge.first), 50),
               name_text(info.names.name(edge.second), 50)});
  return "\n" + table.text() + more_text(edges.size(), rows, " pairs");
}

std::string paths_text(const CallsInfo& info, std::size_t rows) {
  const CallCounts& counts = info.counts;
  Table table({{counts.timed ? "own time" : "calls"}, {"by stack", Align::left}});
  const std::vector<CallCounts::Times> times = counts.times();
  const std::vector<std::size_t> hot = hot_contexts(counts, times, std::min<std::size_t>(rows, 1000));
  std::vector<std::string> stacks;
  for (const std::size_t node : hot) stacks.push_back(stack_text(info.names, counts.stack(node)));
  stacks = name_texts(stacks, 100);
  for (std::size_t i = 0; i < hot.size(); ++i)
    table.add({counts.timed ? nanoseconds_text(times[hot[i]].own) : std::to_string(counts.tree.nodes()[hot[i]].calls),
               stacks[i]});
  return "\n" + table.text();
}

std::string streams_text(const CallsInfo& info, std::size_t rows) {
  const CallCounts& counts = info.counts;
  Table table({{"stream", Align::left}, {"calls"}, {"depth"}, {"left out"}, {"open at the end", Align::left}});
  for (std::size_t i = 0; i < counts.streams.size() && i < rows; ++i)
    table.add({stream_text(info.input, counts.streams[i]), std::to_string(counts.totals[i].calls),
               std::to_string(counts.totals[i].depth),
               std::to_string(info.input.names().streams[counts.streams[i]].left_out),
               name_text(stack_text(info.names, counts.totals[i].open), 80)});
  return "\n" + table.text() + more_text(counts.streams.size(), rows, "");
}

std::string group_name(const CallsInfo& info, const StreamGroup& group) {
  return (info.by == Grouping::thread ? stream_text : rank_text)(info.input, group.streams[0]);
}

}  // namespace

nlohmann::ordered_json calls_info_json(const CallsInfo& info) {
  const CallCounts& counts = info.counts;
  nlohmann::ordered_json out{{"calls", counts.all_calls()}, {"depth", counts.depth()}};
  out["functions"] = functions_json(info, counts.by_function());
  out["edges"] = edges_json(info, frequent_edges(counts.tree.nodes()));
  out["paths"] = nlohmann::ordered_json::array();
  const std::vector<CallCounts::Times> times = counts.times();
  for (const std::size_t node : hot_contexts(counts, times, 100))
    out["paths"].push_back({{"stack", names_of(info.names, counts.stack(node))},
                            {"calls", counts.tree.nodes()[node].calls},
                            {"own_seconds", seconds_json(counts, times[node].own)}});
  out["streams"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < counts.streams.size(); ++i) {
    const record::calls::Stream& s = info.input.names().streams[counts.streams[i]];
    const calls::ContextTree::Totals& t = counts.totals[i];
    out["streams"].push_back({{"rank", s.rank},
                              {"process", s.process},
                              {"thread", s.thread},
                              {"calls", t.calls},
                              {"depth", t.depth},
                              {"left_out", s.left_out},
                              {"stamp_every", s.stamp_every},
                              {"stray_returns", t.stray_returns},
                              {"open", names_of(info.names, t.open)}});
    if (info.input.several_inputs()) out["streams"].back()["input"] = info.input.input_of(counts.streams[i]);
  }
  if (info.by != Grouping::none) out["groups"] = nlohmann::ordered_json::array();
  for (const StreamGroup& group : info.groups) {
    const record::calls::Stream& first = info.input.names().streams[group.streams[0]];
    nlohmann::ordered_json entry{{"rank", first.rank}, {"process", first.process}};
    if (info.by == Grouping::thread) entry["thread"] = first.thread;
    if (info.input.several_inputs()) entry["input"] = info.input.input_of(group.streams[0]);
    entry["calls"] = group.calls;
    entry["functions"] = functions_json(info, group.functions);
    entry["edges"] = edges_json(info, group.edges);
    out["groups"].push_back(std::move(entry));
  }
  out["hot"] = hot_functions(info.input, info.names);
  out["notes"] = info.names.notes;
  return out;
}

std::string calls_info_text(const CallsInfo& info, bool all) {
  const CallCounts& counts = info.counts;
  constexpr std::size_t everything = ~std::size_t{0};
  const std::size_t rows = all ? everything : call_rows;
  std::string out = std::to_string(counts.all_calls()) + " calls in " + std::to_string(counts.streams.size()) +
                    (counts.streams.size() == 1 ? " stream" : " streams") + ", up to " +
                    std::to_string(counts.depth()) + " deep\n\n";
  out += functions_text(info, counts.by_function(), counts.all_calls(), rows) + paths_text(info, rows) +
         edges_text(info, frequent_edges(counts.tree.nodes()), rows) + streams_text(info, rows);
  const std::size_t groups = all ? info.groups.size() : std::min(most_groups, info.groups.size());
  for (const StreamGroup& group : std::span(info.groups).first(groups)) {
    out += "\n" + group_name(info, group) + ": " + std::to_string(group.calls) + " calls\n";
    out += functions_text(info, group.functions, group.calls, all ? everything : group_rows) +
           edges_text(info, group.edges, all ? everything : group_rows);
  }
  out += more_text(info.groups.size(), groups, info.by == Grouping::rank ? " ranks" : " threads");
  const std::vector<std::string> hot = hot_functions(info.input, info.names);
  if (!hot.empty()) out += "\nCalled too often to be kept, only counted from some moment on:";
  for (const std::string& name : hot) out += " " + name_text(name);
  return out + (hot.empty() ? "" : "\n");
}

}  // namespace effort::tools
