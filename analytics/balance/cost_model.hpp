// Fits the cost of a unit of work in seconds, and the relative speed of each node.
#pragma once

#include "analytics/balance/work_log.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::balance {

/// A node is reported as slow, or a rank as unlike its node, if its speed differs by this share or more.
inline constexpr double notable_difference = 0.1;

struct CostModel {
  std::vector<double> unit_cost;        ///< [units] seconds per unit on a typical node; -1: not identifiable
  std::vector<double> unit_cost_error;  ///< [units] standard errors, including the uncertainty of the speeds
  std::vector<double> predicting_cost;  ///< [units] >= 0: unit_cost, with an arbitrary split among collinear units
  std::vector<double> node_speed;       ///< [nodes] time per unit relative to the typical node; 1 if it does not differ
  double relative_noise = 0;            ///< relative standard deviation of a rank's load in a step from the model
  bool collinear = false;               ///< some units are linearly dependent
  bool slow_node = false;               ///< some node's speed differs notably
};

/// Fits the model load = speed x sum of cost x units.  Costs per unit and node speeds are fitted alternately until both
/// converge.
///
/// Nodes whose speeds differ by less than 2 % or five standard errors form a class and share one speed.  The class of
/// the typical node (lower median, weighted by ranks) has speed 1.  Costs and speeds depend only on the sums of the
/// classes, which are exact.  Any split of the same ranks into nodes that leads to the same classes therefore gives the
/// same numbers, bit for bit.  Deterministic; called on the node that has gathered the sums of all nodes.
/// @param nodes  [nodes][scale.width()] as WorkLog::sums()
/// @param ranks  [nodes] ranks of each node, for the median
/// @throws std::invalid_argument when sums are not finite
/// Time O(nodes x (rounds x units^2 + log nodes) + units^4).
CostModel fit_costs(const WorkScale& scale, std::span<const std::vector<std::int64_t>> nodes,
                    std::span<const double> ranks);

/// A rank's speed for given costs, from its own observations.
struct RankSpeed {
  double speed = 0;  ///< time for the same work, relative to the typical node's; <= 0: not known
  double error = 0;  ///< standard error
};
RankSpeed rank_speed(const NormalEquations& rank, std::span<const double> cost, double relative_noise);

/// Whether a rank is unlike its node: its speed differs notably from the node's, and by more than six standard errors.
bool unlike_node(const RankSpeed& rank, double node_speed);

}  // namespace effort::balance
