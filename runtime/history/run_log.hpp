// The record of the run so far: the content of a snapshot except the histories.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/window/window.hpp"
#include "record/run.hpp"
#include "record/step_load_log.hpp"
#include "runtime/collect/collector.hpp"
#include "runtime/config/settings.hpp"
#include "runtime/history/report.hpp"
#include "runtime/node/segment.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace effort::engine {

/// Facts about the run that a node's engine needs.
struct NodeSetup {
  int n_ranks = 1;                         ///< of the run
  std::vector<int> ranks;                  ///< global ids of the node's ranks, ascending
  std::vector<std::int32_t> node_of_rank;  ///< [n_ranks] on node 0, empty elsewhere
  std::string name, job;                   ///< of the application, for the snapshot's name
  std::vector<std::string> notes;          ///< notes from set-up

  /// The place of a rank on this node; -1 if it is on another one.
  int local_of(int rank) const {
    const auto at = std::lower_bound(ranks.begin(), ranks.end(), rank);
    return at != ranks.end() && *at == rank ? static_cast<int>(at - ranks.begin()) : -1;
  }
};

/// Kept by the engine of every node and used only by its thread.  Data that only the file needs is kept on node 0.
class RunLog {
 public:
  /// All references must outlive it.
  RunLog(const config::Settings& settings, NodeSetup setup, const NameUnion& names, node::Segment& segment,
         Communicator& nodes);

  const NodeSetup& setup() const { return setup_; }
  void note(std::string text) { setup_.notes.push_back(std::move(text)); }
  /// The host's callback has failed with `answer` after the step.
  void add_failed_callback(std::int64_t step, int answer);
  /// Records a rebalance that all nodes know of.
  void add_rebalance(const RebalanceAnswer& answer);
  /// @param last_look  of the window: its hint is not due yet
  void add_window(const window::Result& result, const window::WindowLoads& loads, node::Appointment last_look);
  /// Strata and unit costs of the steps [first, last].
  void add_description(const window::Result& result, std::int64_t first, std::int64_t last);
  /// Collective.  The loads of a window's first `steps` steps.
  void add_steps(const WindowBlock& block, int steps);
  /// Collective.  Notes which ranks called effort_progress_step more or less often than most.
  /// @param ended  per rank of the node its steps so far, and whether it is final
  void add_uneven_steps(std::int64_t fewest, const std::vector<std::pair<std::int64_t, bool>>& ended);
  void add_lost_snapshot() { ++lost_snapshots_; }
  /// Codes some pending data; false if none was pending.
  bool work() { return step_loads_.work(); }

  RunTotals totals() const { return {prices_, rebalances_}; }
  /// Notes on the errors of the host that are known so far.
  std::vector<std::string> faults() const;
  /// @param final  true at the end of the run, when everything is coded again in its smallest form
  record::Run describe(bool final) const;

 private:
  const config::Settings& settings_;
  NodeSetup setup_;
  const NameUnion& names_;
  node::Segment& segment_;
  Communicator& nodes_;

  std::vector<record::Window> windows_;
  std::vector<node::Appointment> window_looks_;  ///< the last look of each of these
  std::int64_t early_rebalance_ = -1;            ///< step of the last rebalance before the first window
  std::int64_t early_rebalances_ = 0;            ///< before the first window
  double prices_ = 0;
  int rebalances_ = 0;
  // On node 0.
  record::StrataLog strata_;
  std::vector<record::UnitCost> unit_costs_;  ///< the last ones
  std::vector<record::WindowCost> window_costs_;
  std::vector<double> speed_;  ///< [ranks] from the last window in which they were known
  record::StepLoadLog step_loads_;

  double wall_seconds_ = 0;  ///< of all windows, largest rank
  std::int64_t lost_snapshots_ = 0;
  struct Failures {
    std::int64_t first = 0, last = 0, times = 0;
  };
  std::map<int, Failures> failed_callbacks_;  ///< by answer
  std::string partly_bracketed_;              ///< the first rebalance that only some ranks bracketed
  std::string uneven_steps_;                  ///< ranks ended different numbers of steps
};

}  // namespace effort::engine
