// The output of `effort calls info`.
#include <algorithm>
#include <tuple>

#include "tools/calls/analysis.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

namespace {

using Align = Table::Align;
constexpr std::size_t call_rows = 12;

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

}  // namespace

nlohmann::ordered_json calls_info_json(const CallInput& input, const FunctionNames& names, const CallCounts& counts) {
  nlohmann::ordered_json out{{"calls", counts.all_calls()}, {"depth", counts.depth()}};
  out["functions"] = nlohmann::ordered_json::array();
  for (const CallCounts::OfFunction& f : counts.by_function())
    out["functions"].push_back({{"name", names.name(f.function)},
                                {"calls", f.calls},
                                {"timed_calls", f.timed_calls},
                                {"own_seconds", seconds_json(counts, f.ns.own)},
                                {"inclusive_seconds", seconds_json(counts, f.ns.inclusive)}});
  out["paths"] = nlohmann::ordered_json::array();
  const std::vector<CallCounts::Times> times = counts.times();
  for (const std::size_t node : hot_contexts(counts, times, 100))
    out["paths"].push_back({{"stack", names_of(names, counts.stack(node))},
                            {"calls", counts.tree.nodes()[node].calls},
                            {"own_seconds", seconds_json(counts, times[node].own)}});
  out["streams"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < counts.streams.size(); ++i) {
    const record::calls::Stream& s = input.names().streams[counts.streams[i]];
    const calls::ContextTree::Totals& t = counts.totals[i];
    out["streams"].push_back({{"rank", s.rank},
                              {"process", s.process},
                              {"thread", s.thread},
                              {"calls", t.calls},
                              {"depth", t.depth},
                              {"left_out", s.left_out},
                              {"stamp_every", s.stamp_every},
                              {"stray_returns", t.stray_returns},
                              {"open", names_of(names, t.open)}});
  }
  out["hot"] = hot_functions(input, names);
  out["notes"] = names.notes;
  return out;
}

std::string calls_info_text(const CallInput& input, const FunctionNames& names, const CallCounts& counts, bool all) {
  const std::uint64_t calls = counts.all_calls();
  const std::size_t rows = all ? ~std::size_t{0} : call_rows;
  std::string out = std::to_string(calls) + " calls in " + std::to_string(counts.streams.size()) +
                    (counts.streams.size() == 1 ? " stream" : " streams") + ", up to " +
                    std::to_string(counts.depth()) + " deep\n\n";
  std::vector<Table::Heading> columns{{"function", Align::left}, {"calls"}, {"share"}};
  if (counts.timed) columns.insert(columns.end(), {{"timed"}, {"own time"}, {"inclusive"}});
  Table functions(columns);
  const std::vector<CallCounts::OfFunction> by_function = counts.by_function();
  for (std::size_t i = 0; i < by_function.size() && i < rows; ++i) {
    const CallCounts::OfFunction& f = by_function[i];
    std::vector<std::string> row{name_text(names.name(f.function), 60), std::to_string(f.calls),
                                 share_text(f.calls, calls)};
    if (counts.timed)
      row.insert(row.end(),
                 {std::to_string(f.timed_calls), nanoseconds_text(f.ns.own), nanoseconds_text(f.ns.inclusive)});
    functions.add(row);
  }
  out += functions.text();
  if (by_function.size() > rows) out += "  " + std::to_string(by_function.size() - rows) + " more functions: --all\n";
  Table paths({{counts.timed ? "own time" : "calls"}, {"by stack", Align::left}});
  const std::vector<CallCounts::Times> times = counts.times();
  for (const std::size_t node : hot_contexts(counts, times, std::min<std::size_t>(rows, 1000)))
    paths.add({counts.timed ? nanoseconds_text(times[node].own) : std::to_string(counts.tree.nodes()[node].calls),
               name_text(stack_text(names, counts.stack(node)), 100)});
  out += "\n" + paths.text();
  Table streams({{"stream", Align::left}, {"calls"}, {"depth"}, {"left out"}, {"open at the end", Align::left}});
  for (std::size_t i = 0; i < counts.streams.size() && i < rows; ++i)
    streams.add({stream_text(input, counts.streams[i]), std::to_string(counts.totals[i].calls),
                 std::to_string(counts.totals[i].depth),
                 std::to_string(input.names().streams[counts.streams[i]].left_out),
                 name_text(stack_text(names, counts.totals[i].open), 80)});
  out += "\n" + streams.text();
  if (counts.streams.size() > rows) out += "  " + std::to_string(counts.streams.size() - rows) + " more: --all\n";
  const std::vector<std::string> hot = hot_functions(input, names);
  if (!hot.empty()) out += "\nCalled too often to be kept, only counted from some moment on:";
  for (const std::string& name : hot) out += " " + name_text(name);
  return out + (hot.empty() ? "" : "\n");
}

}  // namespace effort::tools
