// The sets of medoids found on one node, with the facts that the other nodes need to evaluate them.
#pragma once

#include "analytics/comm/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// Distances up to 2^20 times the largest in the samples are still summed exactly.
inline constexpr int outlier_exponent = 20;

/// The medoids of all trials, and facts about the samples that all nodes need.
struct Proposal {
  enum Status : std::int64_t { good = 0, bad_ids = 1, missing_objects = 2, bad_value = 3, bad_shape = 4 };
  std::int64_t status = good;
  std::int64_t where = 0;  ///< node (bad_ids, bad_shape) or global id (bad_value)
  std::int64_t column = 0;
  double value = 0;
  int k = 0;
  int range_exponent = 0;      ///< see range.hpp
  int limit_exponent = -2000;  ///< see FixedUnit
  double silhouette = -1;
  std::vector<std::int32_t> medoids;  ///< [trials][k] global ids, ascending in each trial
  std::vector<double> rows;           ///< [trials][k][d]

  std::size_t trials() const { return k == 0 ? 0 : medoids.size() / static_cast<std::size_t>(k); }
};

/// Broadcasts node 0's proposal to all nodes.  Collective; one broadcast, whose length all nodes know beforehand.
/// @param trials  sets of medoids in it
/// @param most_k  k is at most this
/// @param d       values of an object
/// @throws std::invalid_argument on all nodes alike if the proposal reports bad objects
Proposal share(Communicator& nodes, const Proposal& mine, std::size_t trials, std::size_t most_k, std::size_t d);

}  // namespace effort::cluster
