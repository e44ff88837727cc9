// Selects the counters that a session reads besides the clock, and when it reads them.
#pragma once

#include "runtime/measure/slot_counters.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace effort::measure {

/// How a session measures.
struct Options {
  bool per_region = false;  ///< counters besides the clock are read at every region boundary instead of once a step
  bool multiplex = false;   ///< see EventOptions
  double max_overhead = 0;  ///< share of the computing time that measuring may take; 0: no guard
  bool operator==(const Options&) const = default;
};

/// Divides the counters named by METRICS and LOAD_METRIC into those read at region boundaries and those read once a
/// step.
class CounterChoice {
 public:
  /// The metric that a counter contributes to.
  struct Metric {
    std::uint32_t id;
    double scale;
    bool value;  ///< a state, not a count
  };

  /// Registers the metrics.  A counter that cannot be read is reported as a note; for the load metric, see
  /// load_refusal().
  CounterChoice(const std::vector<std::string>& metrics, const std::string& load_metric, const Options& options,
                Registry& registry);

  /// The plan for a thread's slot.
  /// @param whole  this thread reads the counters that cover the whole process
  SlotPlan plan(bool whole, const std::shared_ptr<const Registry>& registry) const {
    return {&boundary_, &at_step_, whole, &registry, boundary_.count() == 1 && cpu_ == 0};
  }
  const std::vector<Metric>& at_boundaries() const noexcept { return boundary_metrics_; }
  const std::vector<Metric>& at_steps() const noexcept { return step_metrics_; }
  /// Index of cpu_time among the counters read at boundaries; -1: not read.
  int cpu() const noexcept { return cpu_; }
  /// Index of a metric among them; -1: none.
  int place_of(std::uint32_t metric) const noexcept {
    const auto at = std::find_if(boundary_metrics_.begin(), boundary_metrics_.end(),
                                 [&](const Metric& m) { return m.id == metric; });
    return at == boundary_metrics_.end() ? -1 : static_cast<int>(at - boundary_metrics_.begin());
  }
  /// Why the load cannot be measured as requested; empty if it can.
  const std::string& load_refusal() const noexcept { return load_refusal_; }
  /// Adds notes about counters at the end of the run.
  /// @param fallen  SlotCounters::fallen of all slots combined
  void note_remarks(std::uint32_t fallen, Registry& registry) const;

 private:
  void adopt(const std::vector<std::string>& names, SourceSet& set, std::vector<Metric>& metrics,
             const std::string& load_metric, const Options& options, Registry& registry);

  SourceSet boundary_, at_step_;
  std::vector<Metric> boundary_metrics_, step_metrics_;
  std::string load_refusal_;
  int cpu_ = -1;
};

}  // namespace effort::measure
