// Seconds per unit of work, and how fast each node does it.
#pragma once

#include "analytics/balance/nnls.hpp"

#include <span>
#include <vector>

namespace effort::balance {

/// One node's share of the fit: what it sends to where the costs are fitted.
/// Observations are a rank's step: its units of work and its load.  They are weighted by 1 / (mean load of the rank)^2,
/// since noise grows with the load.  Steps without any work say nothing about costs and are left out.
class WorkLog {
 public:
  /// @param units    kinds of units of work
  /// @param regions  regions of which the load is split as well
  WorkLog(int units = 0, int regions = 0);
  /// Adds a window.
  /// @param work         [units][ranks][steps]
  /// @param load         [ranks][steps] seconds
  /// @param region_load  [regions][ranks][steps] seconds
  /// @param floor        least mean load that is weighted by, seconds > 0
  /// Time O(ranks x steps x units (units + regions)).
  void add(std::span<const double> work, std::span<const double> load, std::span<const double> region_load, int ranks,
           int steps, double floor);
  /// Adds another log of the same shape.
  void add(const WorkLog& other);
  /// As numbers to be sent, and back.  Length: units^2 + units (regions + 1) + 2.
  std::vector<double> pack() const;
  static WorkLog unpack(std::span<const double> packed, int units, int regions);

  int units() const { return whole_.n; }
  const NormalEquations& whole() const { return whole_; }
  std::span<const double> region(int g) const {
    return std::span<const double>(region_xy_).subspan(static_cast<std::size_t>(g) * whole_.n, static_cast<std::size_t>(whole_.n));
  }
  std::size_t bytes() const { return (whole_.xx.size() + whole_.xy.size() + region_xy_.size()) * sizeof(double); }

 private:
  NormalEquations whole_;
  int regions_;
  std::vector<double> region_xy_;  // [regions][units]
};

struct CostModel {
  std::vector<double> unit_cost;         ///< [units] seconds per unit on a typical node; -1: could not be told
  std::vector<double> unit_cost_error;   ///< [units] standard errors
  std::vector<double> region_unit_cost;  ///< [regions][units]; -1 likewise
  std::vector<double> node_speed;        ///< [nodes] time per unit relative to the typical node, 1 where not told apart
  double relative_noise = 0;             ///< standard deviation of a rank's step about the model, relative
  bool collinear = false;                ///< some units cannot be told apart
  bool slow_node = false;                ///< some node's speed differs by more than a tenth
};

/// Fits costs per unit and node speeds in turn, until neither moves: load = speed x sum of cost x units.
/// The typical node (lower median by ranks) has speed 1; a speed that differs by less than 2 % or four standard errors is
/// set to 1.  Deterministic; runs where all nodes' logs are gathered.
/// @param nodes    all nodes' logs, same units and regions
/// @param weights  [nodes] ranks of each node, for the median
CostModel fit_costs(std::span<const WorkLog> nodes, std::span<const double> weights, int regions);

}  // namespace effort::balance
