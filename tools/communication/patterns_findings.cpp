#include <algorithm>
#include <map>

#include "tools/communication/patterns_output.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

using communication::Phase;

namespace {

std::vector<std::uint32_t> sequence_of(const communication::Patterns& patterns) {
  std::vector<std::uint32_t> sequence;
  sequence.reserve(patterns.instances.size());
  for (const communication::Instance& instance : patterns.instances) sequence.push_back(instance.pattern);
  return sequence;
}

}  // namespace

PatternFindings::PatternFindings(const communication::Record& of, const PatternOptions& options)
    : record(of),
      patterns(communication::find_patterns(of, options.symbols)),
      phases(communication::find_phases(sequence_of(patterns), patterns.patterns.size(), options.phases)),
      shown(communication::at_depth(phases, shown_depth)),
      slow(communication::find_slow(of, patterns, options.cutoff)),
      priorities(slow.size()),
      slow_of_pattern(patterns.patterns.size()),
      total_ns(patterns.patterns.size()) {
  for (const communication::Instance& instance : patterns.instances)
    total_ns[instance.pattern] += static_cast<double>(instance.duration_ns());
  std::size_t next = 0;
  for (std::size_t p = 0; p < shown.leaves.size(); ++p) {
    const std::size_t first = next;
    std::vector<communication::Alternative> alternatives;
    for (; next < slow.size() && slow[next].instance < shown.leaves[p].end; ++next) {
      const communication::Instance& instance = patterns.instances[slow[next].instance];
      const communication::Pattern& pattern = patterns.patterns[instance.pattern];
      alternatives.push_back(
          {static_cast<double>(instance.duration_ns()), instance.bytes, pattern.ranks, pattern.events});
      slow_phases.push_back(p);
      ++slow_of_pattern[instance.pattern];
    }
    const std::vector<communication::Priority> own = communication::prioritise(alternatives);
    std::copy(own.begin(), own.end(), priorities.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

std::string PatternFindings::function_of(const communication::Instance& instance) const {
  if (instance.function < record.regions.size()) return record.regions[instance.function];
  const std::uint32_t region = record.calls[patterns.events[instance.first_event].start].region;
  const std::string name = region < record.regions.size() ? record.regions[region] : "";
  const std::size_t path = name.find(": ");  // "MPI_Waitall: solve"
  return path == std::string::npos ? "" : name.substr(path + 2);
}

std::vector<std::string> PatternFindings::functions_of(const Phase& phase, std::size_t most) const {
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = phase.first; i < phase.end; ++i) ++counts[function_of(patterns.instances[i])];
  counts.erase("");
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [function, count] : counts) order.emplace_back(count, function);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) out.push_back(order[i].second);
  return out;
}

std::size_t PatternFindings::slow_in(const Phase& phase) const {
  const auto from = [&](std::size_t instance) {
    return std::lower_bound(slow.begin(), slow.end(), instance,
                            [](const communication::SlowInstance& s, std::size_t i) { return s.instance < i; });
  };
  return static_cast<std::size_t>(from(phase.end) - from(phase.first));
}

std::int64_t PatternFindings::duration_ns(const Phase& phase) const {
  const std::int64_t start = patterns.instances[phase.first].start_ns;
  std::int64_t end = start;
  for (std::size_t i = phase.first; i < phase.end; ++i) end = std::max(end, patterns.instances[i].end_ns);
  return end - start;
}

std::string PatternFindings::contents_of(const Phase& phase, std::size_t width) const {
  std::map<std::uint32_t, std::size_t> counts;
  for (std::size_t i = phase.first; i < phase.end; ++i) ++counts[patterns.instances[i].pattern];
  std::vector<std::pair<std::size_t, std::uint32_t>> order;
  for (const auto& [pattern, count] : counts) order.emplace_back(count, pattern);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()); ++i)
    out += (i == 0 ? "" : ", ") + name_text(patterns.patterns[order[i].second].name, width) + " (" +
           std::to_string(order[i].first) + ")";
  return order.size() > 3 ? out + ", ..." : out;
}

std::string PatternFindings::pattern_text(std::uint32_t pattern) const {
  const communication::Pattern& p = patterns.patterns[pattern];
  if (p.grid.empty()) return p.name + " of " + count_text(p.ranks, "rank");
  std::string text = p.name + " on ";
  for (std::size_t d = 0; d < p.grid.size(); ++d) text += (d == 0 ? "" : " x ") + std::to_string(p.grid[d]);
  return text + " ranks";
}

}  // namespace effort::tools
