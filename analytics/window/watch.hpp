// Follows the loads of every step and decides at looks whether to rebalance.
#pragma once

#include "analytics/balance/decision.hpp"
#include "analytics/balance/forecast.hpp"
#include "analytics/balance/peaks.hpp"
#include "analytics/balance/shifts.hpp"
#include "analytics/comm/communicator.hpp"
#include "analytics/window/cadence.hpp"
#include "analytics/window/layout.hpp"
#include "analytics/window/window.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::window {

/// One node's part.  All nodes call the same functions with the same steps and settings.
class Watch {
 public:
  explicit Watch(const Settings& settings);

  /// Adds steps.  Collective; blocks.  Steps before the last rebalance train the model but do not enter the loads of
  /// the new distribution.
  /// @return false on all nodes if one of them failed or passed other steps; why() gives the reason
  /// @throws CommunicatorError
  bool follow(Communicator& nodes, const Steps& steps);
  /// Sets the costs per unit of work, [n_units] seconds; negative or empty: not known.  Identical on all nodes.
  void set_unit_costs(std::span<const double> unit_cost);
  /// Sets how much of the loss no rank waits for, seconds per step >= 0.  Identical on all nodes.
  void set_unawaited(double seconds) { unawaited_ = seconds; }
  /// Decides from the steps since the last look.  Collective; blocks.  Fills the parts of `result` that belong to a
  /// look.
  void look(Communicator& nodes, const LookCost& cost, Result& result);

  /// Ends the window of the steps since the last call, at least one.  Collective; blocks.
  WindowLoads close_window(Communicator& nodes);
  /// First step of the present distribution.
  std::int64_t since() const { return since_; }
  const std::string& why() const { return why_; }
  std::size_t bytes() const;

 private:
  struct Batch;
  /// This node's part of the loss of one step under a trial's weights.
  struct TrialStep {
    std::size_t step;  // index in the batch
    balance::Predictor predictor;
    int age;
    double largest;    // weighted load of this node's ranks
    std::int64_t sum;  // of the weighted loads, each rounded
  };
  bool exchange_shapes(Communicator& nodes, const Steps& steps, const std::string& error);
  void begin_distribution(std::int64_t first_step);
  std::vector<double> aimed_change() const;
  std::size_t first_rebalanced(const Batch& batch) const;
  void exchange_steps(Communicator& nodes, Batch& batch);
  void follow_step(Batch& batch, std::size_t s);
  std::vector<double> cost_of_work(const Batch& batch, std::size_t s) const;
  TrialStep evaluate(const balance::Trial& trial, std::span<const double> load, std::size_t step) const;
  void exchange_trials(Communicator& nodes, Batch& batch);

  Settings settings_;
  std::string why_;
  Layout layout_;
  double largest_load_ = 0;  // of the present batch
  std::vector<double> unit_cost_;
  double unawaited_ = 0;

  balance::Forecast forecast_;
  balance::PeakFinder peaks_;
  balance::ShiftFinder shifts_;
  balance::Decision decision_;           // used on node 0
  Cadence cadence_;                      // used on node 0
  std::vector<Rebalance> pending_;       // rebalances that take effect after the last step followed
  std::vector<double> sum_, fresh_sum_;  // [n_local] load since the last look; the part under the present distribution
  std::vector<double> window_sum_;       // [n_local] load since the last window
  std::int64_t window_first_ = 0;
  int summed_ = 0, fresh_ = 0;  // steps in sum_ and fresh_sum_
  std::int64_t seen_from_ = 0, first_fresh_ = 0, last_step_ = -1, since_ = 0;
  double to_aim_ = 0, to_prediction_ = 0;  // distances of the loads after rebalances, summed, fading
  std::vector<double> predicted_;          // [n_ranks] at the last look; empty if a distribution has begun since
};

}  // namespace effort::window
