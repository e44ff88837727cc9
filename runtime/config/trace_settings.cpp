#include "runtime/config/trace_settings.hpp"

#include "analytics/number_text.hpp"
#include "runtime/config/trace_rules.hpp"
#include "runtime/config/values.hpp"

#include <cmath>
#include <cstdint>

namespace effort::config {

void set_trace_memory(Settings& s, const std::string& key, const std::string& value) {
  s.trace.memory =
      number<std::int64_t>(key, value, 1 << 18, std::int64_t{1} << 36, "262144 to 68719476736 bytes per rank");
}

void set_trace_time(Settings& s, const std::string& key, const std::string& value) {
  const char* allowed =
      "exact, or a bound such as 1%,100ns (up to 50 % of the time since the previous event, or 1 to "
      "1000000 ns if that is more)";
  if (value == "exact") {
    s.trace.relative_ppm = s.trace.absolute_ns = 0;
    return;
  }
  const std::size_t percent = value.find("%,");
  if (percent == std::string::npos || !value.ends_with("ns")) refuse(key, value, allowed);
  const double share = number<double>(key, value.substr(0, percent), 0, 50, allowed);
  s.trace.relative_ppm = static_cast<std::uint32_t>(std::lround(share * 1e4));
  s.trace.absolute_ns =
      number<std::uint32_t>(key, value.substr(percent + 2, value.size() - percent - 4), 1, 1'000'000, allowed);
}

void set_trace_confidence(Settings& s, const std::string& key, const std::string& value) {
  s.trace.confidence = number(key, value, 0.5, 0.9999, "0.5 to 0.9999");
}

void set_trace_error(Settings& s, const std::string& key, const std::string& value) {
  s.trace.error = number(key, value, 1e-4, 1.0, "0.0001 to 1 (relative to the mean load)");
}

void set_trace_budget(Settings& s, const std::string& key, const std::string& value) {
  s.trace.budget = number<std::int64_t>(key, value, 0, INT64_MAX, "0 or more bytes per rank and hour");
}

void set_trace_pin(Settings& s, const std::string& key, const std::string& value) {
  const char* allowed = "up to 4096 ranks, such as 0,5,8-11, or none";
  constexpr std::size_t most = 4096;
  std::vector<std::int32_t> ranks;
  for (const auto& [first, last] : value == "none" ? RankRanges() : rank_ranges(key, value, allowed)) {
    if (static_cast<std::size_t>(last - first) >= most - ranks.size()) refuse(key, value, allowed);
    for (std::int64_t r = first; r <= last; ++r) ranks.push_back(static_cast<std::int32_t>(r));
  }
  s.trace.pinned = std::move(ranks);
}

void set_trace_design(Settings& s, const std::string& key, const std::string& value) {
  if (value == "retrospective")
    s.trace.design = TraceDesign::retrospective;
  else if (value == "subset")
    s.trace.design = TraceDesign::subset;
  else if (value == "global")
    s.trace.design = TraceDesign::global;
  else
    refuse(key, value, "retrospective, subset or global");
}

void set_trace_update(Settings& s, const std::string& key, const std::string& value) {
  s.trace.update = number(key, value, 1, 1'000'000, "1 to 1000000 windows");
}

void set_trace_guide(Settings& s, const std::string& key, const std::string& value) {
  const std::size_t at = value.find('@');
  const std::string metric = value.substr(0, at);
  if (metric.empty() || value.size() > 2047 || at + 1 == value.size() || metric == "rss" || value.ends_with("@value"))
    refuse(key, value, "load, a metric, or METRIC@REGION for that metric in one region; no states such as rss");
  s.trace.guide = value;
}

void set_trace_names(Settings& s, const std::string& key, const std::string& value) {
  if (value != "plain" && value != "hash") refuse(key, value, "plain or hash");
  s.trace.hash_names = value == "hash";
}

void set_trace_reduce(Settings& s, const std::string& key, const std::string& value) {
  using reduction::Similarity;
  std::string allowed = "off, or a method with or without its threshold, such as avgWave:0.2 (";
  for (std::size_t i = 0; i < reduction::n_similarities; ++i) {
    const auto similarity = static_cast<Similarity>(i);
    if (reduction::decides_at_once(similarity))
      allowed +=
          std::string(reduction::similarity_text(similarity)) + (similarity == Similarity::haar_wave ? ")" : ", ");
  }
  s.trace.reduce.reset();
  if (value == "off") return;
  s.trace.reduce = reduction::method_from(value);
  if (!s.trace.reduce) refuse(key, value, allowed);
  if (!reduction::decides_at_once(s.trace.reduce->similarity))
    refuse(key, value, allowed + "; iter_avg and bounded need the whole trace: effort trace reduce has them");
  constexpr double most = 1000;
  if (s.trace.reduce->similarity == Similarity::iter_k && s.trace.reduce->threshold > most)
    refuse(key, value, "iter_k:1 to iter_k:1000");
}

std::string trace_reduce(const Settings& s) { return s.trace.reduce ? reduction::method_text(*s.trace.reduce) : "off"; }

std::string trace_time(const Settings& s) {
  if (s.trace.absolute_ns == 0) return "exact";
  return number_text(s.trace.relative_ppm / 1e4) + "%," + std::to_string(s.trace.absolute_ns) + "ns";
}

std::string trace_design(TraceDesign design) {
  switch (design) {
    case TraceDesign::subset: return "subset";
    case TraceDesign::global: return "global";
    case TraceDesign::retrospective: break;
  }
  return "retrospective";
}

std::string trace_pin(const Settings& s) {
  if (s.trace.pinned.empty()) return "none";
  std::string out;
  for (const std::int32_t rank : s.trace.pinned) out += (out.empty() ? "" : ",") + std::to_string(rank);
  return out;
}

}  // namespace effort::config
