// Seconds per unit of work, and how fast each node does it.
#pragma once

#include "analytics/balance/work_log.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::balance {

/// From here on a speed is worth telling: the node is slow, or the rank unlike its node.
inline constexpr double notable_difference = 0.1;

struct CostModel {
  std::vector<double> unit_cost;        ///< [units] seconds per unit on a typical node; -1: could not be told
  std::vector<double> unit_cost_error;  ///< [units] standard errors, the speeds' uncertainty included
  std::vector<double> predicting_cost;  ///< [units] >= 0: unit_cost, with what can't be told apart shared out somehow
  std::vector<double> node_speed;       ///< [nodes] time per unit relative to the typical node, 1 where not told apart
  double relative_noise = 0;            ///< standard deviation of a rank's step about the model, relative
  bool collinear = false;               ///< some units cannot be told apart
  bool slow_node = false;               ///< some node's speed differs notably
};

/// Fits costs per unit and node speeds in turn, until neither moves: load = speed x sum of cost x units.
///
/// Nodes whose speeds differ by less than 2 % or five standard errors form a class, whose observations have one speed
/// in common; the class of the typical node (lower median by ranks) has speed 1.  Costs and speeds follow from the
/// classes' sums alone, which are exact: any other split of the same ranks into nodes that leads to the same classes
/// gives the same numbers, bit for bit (all nodes alike, for one).  Deterministic; runs where all nodes' sums are
/// gathered.
/// @param nodes  [nodes][scale.width()] as WorkLog::sums()
/// @param ranks  [nodes] ranks of each node, for the median
/// @throws std::invalid_argument when sums are not finite
/// Time O(nodes x (rounds x units^2 + log nodes) + units^4).
CostModel fit_costs(const WorkScale& scale, std::span<const std::vector<std::int64_t>> nodes,
                    std::span<const double> ranks);

/// A rank's speed for given costs, from its own observations.
struct RankSpeed {
  double speed = 0;  ///< time for the same work, relative to the typical node's; <= 0: nothing is known
  double error = 0;  ///< standard error
};
RankSpeed rank_speed(const NormalEquations& rank, std::span<const double> cost, double relative_noise);

/// Whether a rank is unlike its node: its speed differs notably from the node's, and by more than six standard errors.
bool unlike_node(const RankSpeed& rank, double node_speed);

}  // namespace effort::balance
