// The cost of one step on a rank, combined over its threads, and the frame that records it.
#pragma once

#include "runtime/measure/counter_choice.hpp"
#include "runtime/measure/frame.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace effort::measure {

/// How the loads of a rank's threads are combined.
enum class LoadThreads { max, sum };

/// How the load is defined.
struct LoadRule {
  std::uint32_t metric = 0;  ///< 0: time
  LoadThreads threads = LoadThreads::max;
  bool is_cpu_time = false;

  /// Whether the load is wall or CPU time, which can be compared with a price.
  bool in_seconds() const noexcept { return metric == 0 || is_cpu_time; }
  bool sums() const noexcept { return threads == LoadThreads::sum; }
};

/// Ids of the metrics derived from the slots' own totals, if METRICS requests them; 0: not requested.
struct DerivedMetrics {
  std::uint32_t calls = 0, thread_sum = 0, thread_max = 0, thread_imbalance = 0;

  DerivedMetrics() = default;
  DerivedMetrics(const std::vector<std::string>& metrics, const std::string& load_unit, Registry& registry);
  bool of_threads() const noexcept { return thread_sum + thread_max + thread_imbalance != 0; }
};

/// A matrix of series x regions and the values of the step as a whole.  All are zero before a step.
class StepFrame {
 public:
  /// @param step_metrics  read once a step; they must outlive the frame
  StepFrame(const LoadRule& rule, const DerivedMetrics& derived, const std::vector<CounterChoice::Metric>& step_metrics)
      : rule_(rule), derived_(derived), step_metrics_(step_metrics), step_values_(step_metrics.size()) {}

  /// Takes a published definition into account.
  void define(const Defined& d);
  /// From now on, calls are also written as calls_series.
  void count_calls() { calls_.resize(kinds_.size()); }
  std::uint32_t n_regions() const noexcept {
    return static_cast<std::uint32_t>(kinds_.size());
  }  ///< `outside` included
  std::uint32_t n_series() const noexcept { return n_series_; }
  std::uint32_t n_units() const noexcept { return static_cast<std::uint32_t>(work_.size()); }
  /// Kind of a region; COMPUTE for `outside`.
  Kind kind(std::uint32_t region) const noexcept { return kinds_[region]; }

  /// Begins a step: its load and waiting, which stay readable after write(), are zero again.
  void begin() noexcept;
  /// Adds what a thread has accumulated in a region.  Call it once per slot, series, region and step.
  void fold(std::uint32_t series, std::uint32_t region, double value, bool sum);
  void add_calls(std::uint32_t region, double n);
  void add_work(std::uint32_t unit, double amount) noexcept { work_[unit] += amount; }
  void add_step_value(std::size_t counter, double value) noexcept { step_values_[counter] += value; }
  /// Adds the load of a thread and the seconds that its boundaries cost.
  void add_thread(double load, double measuring) noexcept;
  /// Waiting of the stepping thread, in elapsed seconds and in CPU seconds.
  double wait = 0, cpu_wait = 0;

  /// Seconds that boundaries cost the busiest thread.
  double measuring() const noexcept { return measuring_; }

  /// Fills in the header, except for the step's place and duration, and appends it and the frame.  Sets all sums back
  /// to zero.
  void write(FrameHeader& header, RecordStream& out);

 private:
  void write_teams();
  double& value(std::uint32_t series, std::size_t region) noexcept { return values_[series * kinds_.size() + region]; }

  /// The load of a region's threads in the step.
  struct Team {
    double sum = 0, most = 0;
    int threads = 0;
  };

  std::vector<Kind> kinds_{
      Kind::compute};  ///< by region id; `outside` takes application metrics that belong to no region
  std::uint32_t n_series_ = 0;
  const LoadRule rule_;
  const DerivedMetrics derived_;
  const std::vector<CounterChoice::Metric>& step_metrics_;
  std::vector<double> values_;       ///< [series][region]
  std::vector<double> calls_;        ///< [region] for calls_series; empty unless requested
  std::vector<double> work_;         ///< [unit]
  std::vector<double> step_values_;  ///< [step counter]
  std::vector<Team> teams_;          ///< [region]; empty unless a metric of threads was requested
  double load_ = 0, measuring_ = 0;
};

}  // namespace effort::measure
