#include "runtime/config/trace_rules.hpp"

#include "analytics/number_text.hpp"
#include "runtime/config/values.hpp"

#include <algorithm>
#include <cstddef>

namespace effort::config {
namespace {

constexpr std::size_t most_tables = 256;
constexpr const char* some_ranks = "ranks such as 0-127 or 0,5,8-11";

/// A line of a table.
struct Line {
  std::string key, value;
  bool ends_table = false;
};

std::vector<Line> lines_of(const std::string& key, const std::string& text) {
  std::vector<Line> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t equals = line.find('=');
    if (!line.empty() && equals == std::string::npos) refuse(key, line, "lines of the form key = value");
    out.push_back({line.substr(0, equals), line.empty() ? "" : line.substr(equals + 1), line.empty()});
  }
  return out;
}

std::string rule(const std::string& key, const std::string& field) { return key + "." + field; }

double confidence(const std::string& key, const std::string& value) {
  return number(key, value, 0.5, 0.9999, "0.5 to 0.9999");
}

double error(const std::string& key, const std::string& value) {
  return number(key, value, 1e-4, 1.0, "0.0001 to 1 (relative to the mean)");
}

std::string name(const std::string& key, const std::string& value) {
  const auto control = [](unsigned char c) { return c < 32 || c == 127; };
  if (value.empty() || value.size() > 1023 || std::any_of(value.begin(), value.end(), control))
    refuse(key, value, "a name of 1 to 1023 bytes without control characters");
  return value;
}

void set(TraceGroup& g, const std::string& key, const Line& line) {
  const std::string where = rule(key, line.key);
  if (line.key == "name")
    g.name = name(where, line.value);
  else if (line.key == "members")
    g.members = rank_ranges(where, line.value, some_ranks);
  else if (line.key == "pinned")
    g.pinned = rank_ranges(where, line.value, some_ranks);
  else if (line.key == "confidence")
    g.confidence = confidence(where, line.value);
  else if (line.key == "error")
    g.error = error(where, line.value);
  else if (line.key == "sample_size")
    g.sample_size = number<std::int64_t>(where, line.value, 1, INT32_MAX, "1 or more ranks");
  else
    refuse(key, line.key, "the keys name, members, confidence, error, sample_size and pinned");
}

void set(TracePolicy& p, const std::string& key, const Line& line) {
  const std::string where = rule(key, line.key);
  if (line.key == "region")
    p.region = name(where, line.value);
  else if (line.key == "confidence")
    p.confidence = confidence(where, line.value);
  else if (line.key == "error")
    p.error = error(where, line.value);
  else if (line.key == "trace")
    p.trace = flag(where, line.value);
  else
    refuse(key, line.key, "the keys region, confidence, error and trace");
}

template <typename Rule>
std::vector<Rule> parse(const std::string& key, const std::string& text) {
  std::vector<Rule> out;
  bool open = false;
  for (const Line& line : lines_of(key, text)) {
    if (!line.ends_table && !open) out.emplace_back();
    open = !line.ends_table;
    if (open) set(out.back(), key, line);
    if (out.size() > most_tables) refuse(key, std::to_string(out.size()) + " tables", "at most 256");
  }
  return out;
}

[[noreturn]] void wrong(const std::string& problem) { throw Error(Status::config, problem); }

std::int64_t count(const RankRanges& ranges) {
  std::int64_t n = 0;
  for (const auto& [first, last] : ranges) n += std::int64_t{last} + 1 - first;
  return n;
}

bool contains(const RankRanges& all, const std::pair<std::int32_t, std::int32_t>& part) {
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& range) { return range.first <= part.first && part.second <= range.second; });
}

void check(const TraceGroup& g) {
  if (g.name.empty()) wrong("a trace_group has no name: give it one (name = \"...\")");
  const std::string who = "trace_group '" + record::visible(g.name) + "'";
  if (g.members.empty()) wrong(who + " has no members: name its ranks (members = \"0-127\")");
  for (const auto& range : g.pinned)
    if (!contains(g.members, range))
      wrong(who + " pins ranks that are not its members (" + std::to_string(range.first) + " to " +
            std::to_string(range.second) + "): pin members only");
  if (g.sample_size > 0 && (g.confidence >= 0 || g.error >= 0))
    wrong(who + " has a sample_size and a confidence or error, which exclude each other: give one of them");
  if (g.sample_size > 0 && g.sample_size < count(g.pinned))
    wrong(who + " has a sample_size of " + std::to_string(g.sample_size) + ", but pins " +
          std::to_string(count(g.pinned)) + " ranks: the sample includes them, so make it larger");
}

void check_disjoint(const std::vector<TraceGroup>& groups) {
  std::vector<std::pair<std::pair<std::int32_t, std::int32_t>, std::size_t>> all;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const auto& range : groups[g].members) all.emplace_back(range, g);
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].first.first <= all[i - 1].first.second)
      wrong("rank " + std::to_string(all[i].first.first) + " is in trace_group '" +
            record::visible(groups[all[i - 1].second].name) + "' and in '" +
            record::visible(groups[all[i].second].name) + "': a rank belongs to one group");
}

std::string text(const RankRanges& ranges) {
  std::string out;
  for (const auto& [first, last] : ranges)
    out += (out.empty() ? "" : ",") + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
  return out;
}

std::string accuracy_text(double confidence, double error) {
  return (confidence >= 0 ? "confidence=" + number_text(confidence) + "\n" : std::string()) +
         (error >= 0 ? "error=" + number_text(error) + "\n" : std::string());
}

}  // namespace

RankRanges rank_ranges(const std::string& key, const std::string& value, const std::string& allowed) {
  RankRanges ranges;
  const auto rank = [&](const std::string& text) { return number<std::int32_t>(key, text, 0, INT32_MAX - 1, allowed); };
  for (const std::string& range : names(value)) {
    const std::size_t dash = range.find('-');
    const std::int32_t first = rank(range.substr(0, dash));
    const std::int32_t last = dash == std::string::npos ? first : rank(range.substr(dash + 1));
    if (last < first || ranges.size() >= 65536) refuse(key, value, allowed);
    ranges.emplace_back(first, last);
  }
  std::sort(ranges.begin(), ranges.end());
  RankRanges out;
  for (const auto& range : ranges)
    if (!out.empty() && range.first <= out.back().second + 1)
      out.back().second = std::max(out.back().second, range.second);
    else
      out.push_back(range);
  return out;
}

void set_trace_groups(Settings& s, const std::string& key, const std::string& value) {
  s.trace.groups = parse<TraceGroup>(key, value);
}

void set_trace_policies(Settings& s, const std::string& key, const std::string& value) {
  s.trace.policies = parse<TracePolicy>(key, value);
}

void check_trace_rules(const Settings& s) {
  for (const TraceGroup& g : s.trace.groups) check(g);
  check_disjoint(s.trace.groups);
  for (std::size_t i = 0; i < s.trace.policies.size(); ++i) {
    const TracePolicy& p = s.trace.policies[i];
    if (p.region.empty()) wrong("a trace_policy has no region: name the region it applies to (region = \"...\")");
    if (p.confidence < 0 && p.error < 0 && p.trace)
      wrong("the trace_policy of region '" + record::visible(p.region) +
            "' changes nothing: give it a confidence, an error or trace = false, or remove it");
    for (std::size_t j = 0; j < i; ++j)
      if (s.trace.policies[j].region == p.region)
        wrong("region '" + record::visible(p.region) + "' has two trace_policy tables: keep one");
  }
}

std::string trace_groups(const Settings& s) {
  std::string out = "\n";
  for (const TraceGroup& g : s.trace.groups) {
    out += "name=" + g.name + "\nmembers=" + text(g.members) + "\n" + accuracy_text(g.confidence, g.error);
    if (g.sample_size > 0) out += "sample_size=" + std::to_string(g.sample_size) + "\n";
    if (!g.pinned.empty()) out += "pinned=" + text(g.pinned) + "\n";
    out += "\n";
  }
  return out;
}

std::string trace_policies(const Settings& s) {
  std::string out = "\n";
  for (const TracePolicy& p : s.trace.policies)
    out += "region=" + p.region + "\n" + accuracy_text(p.confidence, p.error) + (p.trace ? "" : "trace=0\n") + "\n";
  return out;
}

}  // namespace effort::config
