// The loads of a run's steps while the run goes on, for the engine and for replays.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>

#include "analytics/codec/history.hpp"
#include "record/run.hpp"

namespace effort::record {

/// Collects the largest rank's load and the mean load of every step.
class StepLoadLog {
 public:
  /// @param loads  [2][steps]: the largest loads, then the mean loads
  void append(std::span<const double> loads) {
    const std::size_t steps = loads.size() / 2;
    const auto path = [](std::span<const double> of) { return std::accumulate(of.begin(), of.end(), 0.0); };
    critical_path_ += path(loads.first(steps));
    mean_path_ += path(loads.last(steps));
    history_.append(loads, steps);
  }
  /// Codes some pending data; false if none was pending.
  bool work() { return history_.work(); }

  double critical_path() const { return critical_path_; }
  /// Sets the run's paths and the loads of its steps.
  /// @param final  in the smallest form, for the end of a run
  void describe(Run& run, bool final) const {
    run.critical_path = critical_path_;
    run.mean_path = mean_path_;
    if (history_.steps() > 0) run.step_loads = final ? history_.serialize_final() : history_.serialize();
  }

 private:
  /// It suffices for reading a chart, at one or two bytes per step.
  static constexpr double precision = 1e-3;

  codec::History history_{2, codec::Target::nrmse(precision)};
  double critical_path_ = 0, mean_path_ = 0;
};

}  // namespace effort::record
