// Patterns, phases and slow instances as the report page shows them.
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "tools/report/report_communication.hpp"

namespace effort::tools {

using communication::Phase;
using nlohmann::ordered_json;

namespace {

constexpr std::size_t most_patterns = 200;
constexpr std::size_t most_slow = 2000;
constexpr std::size_t most_phases = 2000;
constexpr std::size_t most_levels = 24;
constexpr std::size_t most_instance_looks = 8'000'000;  // at instances, for the functions of phases

ordered_json patterns_list(const PatternFindings& f) {
  ordered_json out = ordered_json::array();
  for (const std::uint32_t p : by_time(f)) {
    if (out.size() == most_patterns) break;
    const communication::Pattern& pattern = f.patterns.patterns[p];
    out.push_back({{"id", p},
                   {"name", f.pattern_text(p)},
                   {"ranks", pattern.ranks},
                   {"events", pattern.events},
                   {"instances", pattern.instances},
                   {"seconds", 1e-9 * f.total_ns[p]},
                   {"slow", f.slow_of_pattern[p]}});
  }
  return out;
}

ordered_json slow_list(const PatternFindings& f, std::int64_t origin_ns) {
  ordered_json out = ordered_json::array();
  for (const std::size_t s : by_promise(f)) {
    if (out.size() == most_slow) break;
    const communication::Instance& instance = f.patterns.instances[f.slow[s].instance];
    ordered_json one = slow_json(f, s);
    one["name"] = f.pattern_text(instance.pattern);
    one["function"] = f.function_of(instance);
    one["start"] = instance.start_ns - origin_ns;
    one["duration"] = instance.duration_ns();
    one["bytes"] = instance.bytes;
    one["first_rank"] = instance.first_rank;
    out.push_back(std::move(one));
  }
  return out;
}

/// A phase at the levels of the tree at which it is not cut.
ordered_json phase_json(const PatternFindings& f, const Phase& phase, std::size_t level, std::int64_t origin_ns) {
  const std::int64_t start = f.patterns.instances[phase.first].start_ns;
  return {{"first", phase.first},
          {"end", phase.end},
          {"from", level},
          {"to", nullptr},
          {"start", start - origin_ns},
          {"stop", start - origin_ns + f.duration_ns(phase)},
          {"contents", f.contents_of(phase, 60)},
          {"functions", f.functions_of(phase, 3)},
          {"slow", f.slow_in(phase)}};
}

ordered_json phases_list(const PatternFindings& f, std::int64_t origin_ns) {
  ordered_json out;
  std::size_t deepest = 0;
  for (const communication::Split& split : f.phases.tree) deepest = std::max(deepest, split.depth + 1);
  ordered_json list = ordered_json::array();
  // Indices in the list by first and end: of the phases at the level above, and of all.
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> open, all;
  std::size_t level = 0, looks = 0;
  for (; level <= std::min(deepest, most_levels); ++level) {
    const communication::Phases at = communication::at_depth(f.phases, level);
    if (level > 0 && (at.leaves.size() + list.size() > most_phases || looks > most_instance_looks)) break;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> now;
    for (const Phase& phase : at.leaves) {
      const std::pair key{phase.first, phase.end};
      if (const auto known = open.find(key); known != open.end()) {
        now[key] = known->second;
        open.erase(known);
        continue;
      }
      now[key] = all[key] = list.size();
      looks += phase.end - phase.first;
      list.push_back(phase_json(f, phase, level, origin_ns));
    }
    for (const auto& [key, index] : open) list[index]["to"] = level;
    open = std::move(now);
  }
  for (const communication::Split& split : f.phases.tree) {
    const auto known = all.find({split.first, split.end});
    if (known == all.end()) continue;
    ordered_json& phase = list[known->second];
    phase["split"] = split.split;
    phase["divergence"] = split.divergence;
    phase["strength"] = split.strength;
  }
  out["list"] = std::move(list);
  out["levels"] = level;         // in the page
  out["deepest"] = deepest + 1;  // of the tree
  out["shown"] = shown_depth;
  out["count"] = f.phases.leaves.size();
  return out;
}

}  // namespace

ordered_json patterns_page_json(const PatternFindings& f, std::int64_t origin_ns) {
  ordered_json out, answer = ordered_json::array();
  std::istringstream lines(patterns_answer(f));
  for (std::string line; std::getline(lines, line);) answer.push_back(line);
  out["patterns_answer"] = std::move(answer);
  out["patterns"] = patterns_list(f);
  out["pattern_count"] = f.patterns.patterns.size();
  out["instances"] = f.patterns.instances.size();
  out["slow"] = slow_list(f, origin_ns);
  out["slow_count"] = f.slow.size();
  out["phases"] = f.patterns.instances.empty() ? ordered_json() : phases_list(f, origin_ns);
  return out;
}

}  // namespace effort::tools
