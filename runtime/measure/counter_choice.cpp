#include "runtime/measure/counter_choice.hpp"

#include <algorithm>

namespace effort::measure {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether the metric is derived from the slots' own totals; everything else in METRICS is a counter.
bool is_derived(const std::string& name) {
  return name == "time" || name == "calls" || name == "thread_sum" || name == "thread_max" ||
         name == "thread_imbalance";
}

bool is_value(const std::string& name) { return name == "rss" || name.ends_with("@value"); }

bool is_counter(const std::string& name, const std::vector<std::string>& metrics) {
  return is_builtin_counter(name) || name.starts_with("PAPI_") || name.find(':') != std::string::npos ||
         (!is_derived(name) && contains(metrics, name));
}

void note(Registry& registry, const std::string& text) { registry.note(text.substr(0, max_name).c_str()); }

}  // namespace

CounterChoice::CounterChoice(const std::vector<std::string>& metrics, const std::string& load_metric,
                             const Options& options, Registry& registry) {
  std::vector<std::string> at_boundaries, at_steps;
  const auto place = [&](const std::string& name, bool boundary) {
    if (!contains(at_boundaries, name) && (boundary || !contains(at_steps, name)))
      (boundary ? at_boundaries : at_steps).push_back(name);
  };
  if (is_counter(load_metric, metrics)) place(load_metric, true);
  for (const std::string& name : metrics)
    if (!is_derived(name)) place(name, name == "cpu_time" || (options.per_region && !is_value(name)));
  adopt(at_boundaries, boundary_, boundary_metrics_, load_metric, options, registry);
  adopt(at_steps, at_step_, step_metrics_, load_metric, options, registry);
  for (std::size_t i = 0; i < boundary_.counters().size(); ++i)
    if (boundary_.counters()[i].name == "cpu_time") cpu_ = static_cast<int>(i);
}

void CounterChoice::adopt(const std::vector<std::string>& names, SourceSet& set, std::vector<Metric>& metrics,
                          const std::string& load_metric, const Options& options, Registry& registry) {
  std::vector<std::string> events;
  for (const std::string& name : names)
    if (is_builtin_counter(name))
      set.add(builtin_source(name));
    else
      events.push_back(name);
  EventAnswer answer = event_source(events, {options.multiplex});
  if (answer.source) set.add(std::move(answer.source));
  for (const auto& [name, reason] : answer.refused) {
    if (name == load_metric) load_refusal_ = "LOAD_METRIC '" + name + "' cannot be counted: " + reason;
    note(registry, "metric '" + name + "' cannot be counted: " + reason);
  }
  for (const Counter& c : set.counters())
    metrics.push_back({registry.metric(c.name.c_str(), c.unit.c_str()).id, c.scale, c.value});
}

void CounterChoice::note_remarks(std::uint32_t fallen, Registry& registry) const {
  std::size_t bit = 0;
  for (const SourceSet* set : {&boundary_, &at_step_}) {
    for (const std::string& text : set->remarks()) note(registry, text);
    for (const Counter& counter : set->counters()) {
      if ((fallen >> bit++ & 1) == 0 || counter.estimated) continue;
      note(registry,
           "metric '" + counter.name +
               "' fell during the run, and the decrease is not counted: if it is a state and not a count, write " +
               counter.name + "@value");
    }
  }
}

}  // namespace effort::measure
