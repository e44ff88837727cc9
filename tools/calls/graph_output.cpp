// The output of `effort calls graph`.
#include <algorithm>

#include "tools/calls/analysis.hpp"

namespace effort::tools {

namespace {

/// A string in a file of Graphviz.
std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return out + "\"";
}

/// The number of iterations that a caller's loops make of a function, largest loop first.
std::map<CallEdge, const calls::Loop*> loop_edges(const std::vector<calls::Loop>& loops) {
  std::map<CallEdge, const calls::Loop*> out;
  for (const calls::Loop& loop : loops)
    for (const std::uint32_t function : loop.body) out.emplace(CallEdge{loop.function, function}, &loop);
  return out;
}

}  // namespace

nlohmann::ordered_json calls_graph_json(const FunctionNames& names, const CallCounts& counts,
                                        const std::vector<calls::Loop>& loops) {
  nlohmann::ordered_json out;
  out["functions"] = nlohmann::ordered_json::array();
  for (const CallCounts::OfFunction& f : counts.by_function())
    out["functions"].push_back({{"name", names.name(f.function)}, {"calls", f.calls}});
  out["edges"] = nlohmann::ordered_json::array();
  for (const auto& [edge, calls] : call_edges(counts.tree.nodes()))
    out["edges"].push_back({{"caller", names.name(edge.first)}, {"callee", names.name(edge.second)}, {"calls", calls}});
  out["loops"] = nlohmann::ordered_json::array();
  for (const calls::Loop& loop : loops) {
    nlohmann::ordered_json body = nlohmann::ordered_json::array();
    for (const std::uint32_t function : loop.body) body.push_back(names.name(function));
    out["loops"].push_back({{"function", loop.function == 0 ? "" : names.name(loop.function)},
                            {"body", std::move(body)},
                            {"runs", loop.runs},
                            {"iterations", loop.iterations},
                            {"least", loop.least},
                            {"most", loop.most}});
  }
  out["notes"] = names.notes;
  return out;
}

std::string calls_graph_dot(const FunctionNames& names, const CallCounts& counts,
                            const std::vector<calls::Loop>& loops) {
  std::string out = "digraph calls {\n  node [shape=box];\n";
  for (const CallCounts::OfFunction& f : counts.by_function())
    out += "  f" + std::to_string(f.function) +
           " [label=" + in_quotes(names.name(f.function) + " (" + std::to_string(f.calls) + ")") + "];\n";
  const auto in_loops = loop_edges(loops);
  for (const auto& [edge, calls] : call_edges(counts.tree.nodes())) {
    std::string label = std::to_string(calls);
    const auto loop = in_loops.find(edge);
    if (loop != in_loops.end())
      label +=
          ", in loops of " + (loop->second->least == loop->second->most
                                  ? std::to_string(loop->second->most)
                                  : std::to_string(loop->second->least) + " to " + std::to_string(loop->second->most));
    out += "  f" + std::to_string(edge.first) + " -> f" + std::to_string(edge.second) + " [label=" + in_quotes(label) +
           (loop != in_loops.end() ? ", style=bold" : "") + "];\n";
  }
  return out + "}\n";
}

}  // namespace effort::tools
