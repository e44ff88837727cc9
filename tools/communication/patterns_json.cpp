#include <utility>

#include "tools/communication/patterns_output.hpp"

namespace effort::tools {

using nlohmann::ordered_json;

namespace {

ordered_json function_of(const PatternFindings& f, const communication::Instance& instance) {
  const std::string name = f.function_of(instance);
  return name.empty() ? ordered_json() : ordered_json(name);
}

}  // namespace

ordered_json slow_json(const PatternFindings& f, std::size_t s) {
  const communication::SlowInstance& slow = f.slow[s];
  const communication::Priority& priority = f.priorities[s];
  const auto event_ns = [&](std::size_t event) {
    return end_of(f.record, f.patterns.events[event]) - begin_of(f.record, f.patterns.events[event]);
  };
  return {{"instance", slow.instance},
          {"z", slow.z},
          {"cause", communication::slow_cause_name(slow.cause)},
          {"last_rank", slow.last_rank},
          {"affinity", communication::affinity_name(priority.affinity)},
          {"phase", f.slow_phases[s]},
          {"median_ns", slow.median_ns},
          {"severity", priority.severity},
          {"complexity", priority.complexity},
          {"angle", priority.angle},
          {"first_to_finish", slow.first_done},
          {"last_to_finish", slow.last_done},
          {"shortest_event_ns", event_ns(slow.shortest)},
          {"shortest_event_rank", f.patterns.events[slow.shortest].rank},
          {"longest_event_ns", event_ns(slow.longest)},
          {"longest_event_rank", f.patterns.events[slow.longest].rank}};
}

namespace {

void add_limits(const PatternFindings& f, const std::vector<std::string>& notes, ordered_json& out) {
  out["unmatched"] = f.record.unmatched_sends + f.record.unmatched_receives;
  out["left_out"] = f.patterns.left_out;
  out["notes"] = notes;
}

}  // namespace

ordered_json patterns_json(const PatternFindings& f, const std::vector<std::string>& notes) {
  ordered_json out;
  ordered_json& patterns = out["patterns"] = ordered_json::array();
  for (std::size_t p = 0; p < f.patterns.patterns.size(); ++p) {
    const communication::Pattern& pattern = f.patterns.patterns[p];
    patterns.push_back({{"id", p},
                        {"name", pattern.name},
                        {"ranks", pattern.ranks},
                        {"events", pattern.events},
                        {"instances", pattern.instances},
                        {"grid", pattern.grid},
                        {"seconds", 1e-9 * f.total_ns[p]}});
  }
  ordered_json& instances = out["instances"] = ordered_json::array();
  for (const communication::Instance& instance : f.patterns.instances)
    instances.push_back({{"pattern", instance.pattern},
                         {"start_ns", instance.start_ns},
                         {"end_ns", instance.end_ns},
                         {"bytes", instance.bytes},
                         {"first_rank", instance.first_rank},
                         {"last_rank", instance.last_rank},
                         {"function", function_of(f, instance)}});
  ordered_json& slow = out["slow"] = ordered_json::array();
  for (std::size_t s = 0; s < f.slow.size(); ++s) slow.push_back(slow_json(f, s));
  add_limits(f, notes, out);
  return out;
}

ordered_json phases_json(const PatternFindings& f, const std::vector<std::string>& notes) {
  ordered_json out;
  ordered_json leaves = ordered_json::array(), functions = leaves, slow = leaves;
  for (const communication::Phase& phase : f.phases.leaves) {
    leaves.push_back({phase.first, phase.end});
    functions.push_back(f.functions_of(phase, phase.end - phase.first));
    slow.push_back(f.slow_in(phase));
  }
  out["leaves"] = std::move(leaves);
  out["functions"] = std::move(functions);
  out["slow"] = std::move(slow);
  ordered_json& tree = out["tree"] = ordered_json::array();
  for (const communication::Split& split : f.phases.tree)
    tree.push_back({{"first", split.first},
                    {"end", split.end},
                    {"split", split.split},
                    {"divergence", split.divergence},
                    {"strength", split.strength},
                    {"depth", split.depth}});
  add_limits(f, notes, out);
  return out;
}

}  // namespace effort::tools
