#include "tools/commands/replay_trace.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "analytics/sampling/kept_ranks.hpp"
#include "analytics/window/exchange.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

ReplayedTrace::ReplayedTrace(int nodes, sampling::Accuracy accuracy)
    : accuracy_(accuracy), nodes_(static_cast<std::size_t>(nodes)) {}

void ReplayedTrace::add(int index, const window::Input& input, const window::Result& result) {
  if (result.stratum.size() != result.load.size()) return;
  Node& node = nodes_[static_cast<std::size_t>(index)];
  sampling::WindowFacts facts;
  facts.load = result.load;
  facts.stratum = result.stratum;
  facts.strata = result.strata;
  facts.medoids = result.medoid_rank;
  facts.before = node.load;
  facts.predicted = node.predicted;
  facts.jumped = (result.advice & window::advice_jump) != 0;
  facts.window = static_cast<std::int64_t>(node.windows.size());
  const sampling::Target target{result.load, accuracy_};
  Choice choice;
  choice.seconds = -window::thread_cpu_seconds();
  const sampling::KeptRanks kept =
      sampling::choose_ranks(facts, {&target, 1}, {}, static_cast<std::int64_t>(result.load.size()));
  choice.seconds += window::thread_cpu_seconds();
  choice.kept = static_cast<std::int64_t>(kept.ranks.size());
  choice.reached = kept.reached.error;
  for (const sampling::KeptRanks::Rank& rank : kept.ranks) {
    choice.drawn += (rank.reasons & sampling::reason_sample) != 0;
    choice.on_node += std::binary_search(input.ranks.begin(), input.ranks.end(), rank.rank);
  }
  node.windows.push_back(choice);
  node.load = result.load;
  node.predicted = result.predicted;
}

ReplayedTrace::Choice ReplayedTrace::slowest(std::size_t window) const {
  Choice all = nodes_[0].windows[window];
  for (const Node& node : nodes_) {
    all.on_node = std::max(all.on_node, node.windows[window].on_node);
    all.seconds = std::max(all.seconds, node.windows[window].seconds);
  }
  return all;
}

double ReplayedTrace::mean_seconds() const {
  double sum = 0;
  std::size_t n = 0;
  for (const Node& node : nodes_)
    for (const Choice& choice : node.windows) {
      sum += choice.seconds;
      ++n;
    }
  return n > 0 ? sum / static_cast<double>(n) : 0.0;
}

nlohmann::ordered_json ReplayedTrace::json() const {
  nlohmann::ordered_json out;
  out["confidence"] = accuracy_.confidence;
  out["error"] = accuracy_.error;
  out["windows"] = nlohmann::ordered_json::array();
  for (std::size_t w = 0; w < nodes_[0].windows.size(); ++w) {
    const Choice choice = slowest(w);
    nlohmann::ordered_json window;
    window["kept"] = choice.kept;
    window["drawn"] = choice.drawn;
    window["most_of_a_node"] = choice.on_node;
    window["reached"] = choice.reached < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(choice.reached);
    window["choice_seconds"] = choice.seconds;
    out["windows"].push_back(window);
  }
  out["choice_seconds_mean"] = mean_seconds();
  return out;
}

std::string ReplayedTrace::text() const {
  const std::size_t n = nodes_[0].windows.size();
  if (n == 0) return "";
  Table table({{"in a window", Table::Align::left}, {"least"}, {"mean"}, {"most"}});
  const auto add = [&](const char* what, const auto& value_of, const auto& text_of) {
    double least = value_of(slowest(0)), most = least, sum = 0;
    for (std::size_t w = 0; w < n; ++w) {
      const double value = value_of(slowest(w));
      least = std::min(least, value);
      most = std::max(most, value);
      sum += value;
    }
    table.add({what, text_of(least), text_of(sum / static_cast<double>(n)), text_of(most)});
  };
  const auto count = [](double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", value);
    return std::string(text.data());
  };
  add(
      "ranks kept", [](const Choice& c) { return static_cast<double>(c.kept); }, count);
  add(
      "of these, drawn", [](const Choice& c) { return static_cast<double>(c.drawn); }, count);
  add(
      "kept ranks of one node, at most", [](const Choice& c) { return static_cast<double>(c.on_node); }, count);
  add(
      "error of the mean load", [](const Choice& c) { return std::max(0.0, c.reached); }, percent_text);
  add(
      "CPU time to choose them, slowest node", [](const Choice& c) { return c.seconds; }, seconds_text);
  return "Trace (TRACE=on), requested: an error of " + percent_text(accuracy_.error) + " with " +
         percent_text(accuracy_.confidence) + " confidence\n" + table.text();
}

}  // namespace effort::tools
