// Waiting followed back to the ranks that caused it.
#pragma once

#include "analytics/comm/communicator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::communication {

/// How long a rank waited directly for another one in a window.
struct WaitEdge {
  std::int32_t waiting = 0;  ///< -1: several ranks that are no longer distinguished
  std::int32_t late = 0;
  double seconds = 0;
};

/// Passes waiting on to its causes, if a rank was late because it waited itself.
///
/// Suppose that rank a waited w seconds for rank b in a window.  Because a and b spend the same time in the window, b
/// can have been late for two reasons: it was busier than a, or it waited more.  The time by which b was busier, at
/// most w, is charged to b.  The rest is divided among the ranks for which b waited, in proportion to those waits, and
/// passed on from them in the same way.  Waiting that has not reached its cause after 128 rounds, or that cannot be
/// passed on, stays with the rank that it has reached.
///
/// This is Böhme, Geimer, Wolf & Arnold's delay analysis (2010) with a whole window as the interval of comparison
/// instead of the time since two ranks were last synchronized.  It therefore needs sums over the window instead of all
/// events.  Causes that follow each other within a window are mixed in proportion.
///
/// @param edges  of all ranks, at most one for each pair
/// @param busy  [n_ranks] seconds that each rank spent outside of calls in which it might have waited
/// @return [n_ranks] seconds of all ranks' waiting that each rank caused; their sum is that of the edges
std::vector<double> follow_back(std::span<const WaitEdge> edges, std::span<const double> busy);

/// The same for ranks on several nodes.  Collective; blocks.  Node 0 evaluates the longest edges of each node, at most
/// 131,072 in all.  Shorter ones are charged to the rank that was waited for.
/// @param ranks  of this node
/// @param mine  edges of which this node's ranks are the waiting ones
/// @param busy  [ranks]
/// @return [ranks]
std::vector<double> follow_back(Communicator& nodes, std::span<const int> ranks, int n_ranks,
                                std::vector<WaitEdge> mine, std::span<const double> busy);

}  // namespace effort::communication
