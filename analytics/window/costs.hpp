// Costs per unit of work, and the speeds of ranks.
#pragma once

#include "analytics/balance/cost_model.hpp"
#include "analytics/comm/communicator.hpp"
#include "analytics/window/layout.hpp"
#include "analytics/window/pass.hpp"

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace effort::window {

/// Fits them over several windows.  Every node logs its own ranks, node 0 fits and broadcasts, and every node then
/// rates its ranks.
class UnitCosts {
 public:
  /// The ranks of a node have changed.
  void restart();
  /// Sets the costs and speeds of the result, and pass.predicting.  Collective; blocks.
  void fit(Communicator& nodes, const Layout& layout, Pass& pass);

  /// Whether the last fit could not tell units apart, or found a node slower than the others.
  bool collinear() const { return collinear_; }
  bool slow_node() const { return slow_node_; }
  std::size_t bytes() const;

 private:
  balance::WorkLog log_work(const Pass& pass);
  void rate_ranks(Communicator& nodes, const Layout& layout, const balance::WorkLog& recent,
                  std::span<const double> cost, std::span<const double> node_speed, double noise, Result& result);
  void follow(Communicator& nodes, Pass& pass, double noise);

  std::deque<balance::WorkLog> logs_;  // of recent windows, newest first
  std::vector<char> unlike_;           // [n_local] ranks whose speed differs from their node's; empty: none yet
  bool collinear_ = false, slow_node_ = false;
  std::vector<double> stated_;  // [n_units] published with the last window, seconds per unit
  double change_ = -1;          // mean square relative error of `stated_` in the next window; < 0: unknown
};

}  // namespace effort::window
