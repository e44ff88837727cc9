#include "tools/trace/otf2/sampling_json.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace effort::tools {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// The plain fields of a window, and of a trace, by name: writer and reader visit the same list.
template <typename Window, typename Visitor>
void each_field(Window& window, Visitor&& field) {
  field("window", window.ordinal);
  field("first_step", window.first_step);
  field("last_step", window.last_step);
  field("start_ns", window.start_ns);
  field("end_ns", window.end_ns);
  field("error", window.error);
  field("confidence", window.confidence);
}

template <typename AnyTrace, typename Visitor>
void each_field_of_trace(AnyTrace& trace, Visitor&& field) {
  field("name", trace.name);
  field("job", trace.job);
  field("recorder", trace.recorder);
  field("ranks", trace.n_ranks);
  field("nodes", trace.n_nodes);
  field("design", trace.design);
  field("guide", trace.guide);
  field("confidence", trace.confidence);
  field("error", trace.error);
  field("relative_ppm", trace.bound.relative_ppm);
  field("absolute_ns", trace.bound.absolute_ns);
  field("clock_bound_ns", trace.clock_bound_ns);
  field("dropped_steps", trace.dropped_steps);
}

auto written_to(ordered_json& out) {
  return [&out](const char* name, const auto& value) { out[name] = value; };
}

/// Integers are checked: get_to() converts a number that does not fit to another one, or has undefined behaviour.  They
/// are small enough that differences can be computed.
template <typename T>
void get(const json& from, T& value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr std::int64_t most = std::int64_t{1} << 62;  // in ns, 146 years
    const auto fits = [](auto number) {
      return std::cmp_greater_equal(number, -most) && std::cmp_less_equal(number, most) && std::in_range<T>(number);
    };
    if (!(from.is_number_unsigned() ? fits(from.get<std::uint64_t>())
                                    : from.is_number_integer() && fits(from.get<std::int64_t>())))
      throw std::runtime_error(from.dump() + " is not an integer, or is too large");
  }
  from.get_to(value);
}
auto read_from(const json& from) {
  return [&from](const char* name, auto& value) { get(from.at(name), value); };
}

ordered_json window_json(const Trace& trace, const TraceWindow& window) {
  ordered_json out;
  each_field(window, written_to(out));
  out["strata"] = ordered_json::array();
  for (const auto& stratum : window.strata) out["strata"].push_back({stratum.population, stratum.sample});
  out["ranks"] = ordered_json::array();
  for (const KeptRank& kept : window.ranks)
    out["ranks"].push_back(
        {kept.rank, kept.reasons, kept.probability, kept.stratum, kept.dropped_steps, kept.dropped_events, kept.lost});
  const auto sums = [&](const char* name, const std::optional<std::map<std::uint32_t, double>>& of_region) {
    if (!of_region) return;
    ordered_json& list = out[name] = ordered_json::array();
    for (const auto& [region, sum] : *of_region) list.push_back({trace.regions[region].name, sum});
  };
  sums("region_seconds", window.region_seconds);
  sums("region_calls", window.region_calls);
  return out;
}

std::map<std::string, std::uint32_t> regions_by_name(const Trace& trace) {
  std::map<std::string, std::uint32_t> out;
  for (std::size_t r = 0; r < trace.regions.size(); ++r)
    out.emplace(trace.regions[r].name, static_cast<std::uint32_t>(r));
  return out;
}

TraceWindow window_from(const json& from, const std::map<std::string, std::uint32_t>& regions) {
  TraceWindow out;
  each_field(out, read_from(from));
  for (const json& stratum : from.at("strata")) {
    auto& numbers = out.strata.emplace_back();
    get(stratum.at(0), numbers.population);
    get(stratum.at(1), numbers.sample);
  }
  for (const json& rank : from.at("ranks")) {
    KeptRank kept;
    get(rank.at(0), kept.rank);
    get(rank.at(1), kept.reasons);
    get(rank.at(2), kept.probability);
    get(rank.at(3), kept.stratum);
    get(rank.at(4), kept.dropped_steps);
    get(rank.at(5), kept.dropped_events);
    get(rank.at(6), kept.lost);
    if (!out.ranks.empty() && out.ranks.back().rank >= kept.rank) throw std::runtime_error("ranks are not in order");
    out.ranks.push_back(kept);
  }
  const auto sums = [&](const char* name, double most, std::optional<std::map<std::uint32_t, double>>& of_region) {
    if (!from.contains(name)) return;
    of_region.emplace();
    for (const json& entry : from.at(name)) {
      const auto at = regions.find(entry.at(0));
      const double sum = entry.at(1);
      if (!(sum >= 0 && sum < most)) throw std::runtime_error(std::string(name) + " is out of range");
      // A region without a name in the archive was recorded by no kept rank.
      if (at != regions.end()) (*of_region)[at->second] += sum;
    }
  };
  sums("region_seconds", 1e12, out.region_seconds);
  sums("region_calls", 1e19, out.region_calls);
  return out;
}

/// Of each rebuilt span: thread, span, steps, rebuilt steps, errors, and the corrections of regions by name.
ordered_json rebuilt_json(const Trace& trace) {
  ordered_json out = ordered_json::array();
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    for (std::size_t s = 0; s < trace.threads[t].spans.size(); ++s) {
      const std::optional<RebuiltPart>& part = trace.threads[t].spans[s].rebuilt;
      if (!part) continue;
      ordered_json corrections = ordered_json::array();
      for (const auto& c : part->corrections) corrections.push_back({trace.regions[c.region].name, c.ns});
      out.push_back({trace.threads[t].rank, trace.threads[t].thread, s, part->steps, part->rebuilt,
                     part->largest_error_ns, part->error90_ns, std::move(corrections)});
    }
  }
  return out;
}

/// Rebuilt spans, by thread and number.
using RebuiltSpans = std::vector<std::tuple<TraceThread*, std::size_t, RebuiltPart>>;

RebuiltSpans rebuilt_from(const json& from, Trace& trace) {
  const std::map<std::string, std::uint32_t> regions = regions_by_name(trace);
  RebuiltSpans out;
  for (const json& row : from) {
    const auto thread = std::find_if(trace.threads.begin(), trace.threads.end(), [&](const TraceThread& t) {
      return t.rank == row.at(0) && t.thread == row.at(1);
    });
    std::size_t span = 0;
    get(row.at(2), span);
    if (thread == trace.threads.end() || span >= thread->spans.size())
      throw std::runtime_error("a rebuilt interval of rank " + row.at(0).dump() + " does not exist");
    RebuiltPart part;
    get(row.at(3), part.steps);
    get(row.at(4), part.rebuilt);
    get(row.at(5), part.largest_error_ns);
    get(row.at(6), part.error90_ns);
    if (part.largest_error_ns < 0 || part.error90_ns < 0) throw std::runtime_error("an error is negative");
    for (const json& c : row.at(7)) {
      const auto at = regions.find(c.at(0));
      if (at != regions.end()) get(c.at(1), part.corrections.emplace_back(RebuiltPart::Correction{at->second, 0}).ns);
    }
    out.emplace_back(&*thread, span, std::move(part));
  }
  return out;
}

}  // namespace

ordered_json sampling_json(const Trace& trace) {
  ordered_json out = {{"version", 1}};
  each_field_of_trace(trace, written_to(out));
  out["windows"] = ordered_json::array();
  for (const TraceWindow& window : trace.windows) out["windows"].push_back(window_json(trace, window));
  out["spans"] = ordered_json::array();
  for (const TraceThread& thread : trace.threads) {
    ordered_json spans = {thread.rank, thread.thread};
    for (const TraceSpan& span : thread.spans) spans.push_back(span.window);
    out["spans"].push_back(spans);
  }
  if (!trace.reduction.empty()) {
    out["reduction"] = trace.reduction;
    out["rebuilt"] = rebuilt_json(trace);
  }
  return out;
}

void sampling_from_json(const json& from, Trace& trace) {
  if (from.at("version") != 1)
    throw std::runtime_error("it was written by a newer version of effort: use that version");
  // Everything is read before the trace is touched: a damaged property leaves it as it is.
  Trace read;
  each_field_of_trace(read, read_from(from));
  constexpr std::int64_t most_clock_bound_ns = std::int64_t{1} << 59;  // it is added to times
  if (!read.bound.is_valid() || read.clock_bound_ns > most_clock_bound_ns)
    throw std::runtime_error("the bound of time stamps, or that of clocks, is too large");
  if (read.n_ranks != trace.n_ranks)
    throw std::runtime_error("it describes " + count_text(static_cast<std::uint64_t>(read.n_ranks), "rank") +
                             ", but the archive has " + std::to_string(trace.n_ranks));
  const std::map<std::string, std::uint32_t> regions = regions_by_name(trace);
  for (const json& window : from.at("windows")) read.windows.push_back(window_from(window, regions));
  std::vector<std::pair<TraceThread*, std::vector<std::size_t>>> of_spans;
  for (const json& list : from.at("spans")) {
    const auto at = std::find_if(trace.threads.begin(), trace.threads.end(), [&](const TraceThread& thread) {
      return thread.rank == list.at(0) && thread.thread == list.at(1);
    });
    if (at == trace.threads.end() || at->spans.size() + 2 != list.size())
      throw std::runtime_error("the intervals of rank " + list.at(0).dump() + " differ from those in the archive");
    of_spans.emplace_back(&*at, std::vector<std::size_t>());
    for (std::size_t i = 2; i < list.size(); ++i) {
      std::size_t& window = of_spans.back().second.emplace_back();
      get(list.at(i), window);
      if (window >= read.windows.size())
        throw std::runtime_error("rank " + list.at(0).dump() + " has events in window " + std::to_string(window) +
                                 ", but there are only " + std::to_string(read.windows.size()) + " windows");
      if (KeptRank* const kept = read.windows[window].find(at->rank)) kept->events = true;
    }
  }
  for (const TraceThread& thread : trace.threads)
    if (!thread.spans.empty() &&
        std::none_of(of_spans.begin(), of_spans.end(), [&](const auto& listed) { return listed.first == &thread; }))
      throw std::runtime_error("it does not say to which windows the events of rank " + std::to_string(thread.rank) +
                               " belong");
  RebuiltSpans rebuilt;
  if (from.contains("reduction")) {
    from.at("reduction").get_to(read.reduction);
    rebuilt = rebuilt_from(from.at("rebuilt"), trace);
  }
  each_field_of_trace(trace, read_from(from));
  trace.windows = std::move(read.windows);
  for (const auto& [thread, windows] : of_spans)
    for (std::size_t i = 0; i < windows.size(); ++i) thread->spans[i].window = windows[i];
  for (auto& [thread, number, part] : rebuilt) {
    TraceSpan& span = thread->spans[number];
    span.rebuilt = std::move(part);
    if (KeptRank* const kept = trace.windows[span.window].find(thread->rank)) kept->rebuilt = true;
  }
  trace.reduction = std::move(read.reduction);
}

}  // namespace effort::tools
