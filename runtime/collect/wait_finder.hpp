// Waits at collectives of all ranks, for the hint and the history.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/communication/collective_waits.hpp"
#include "runtime/collect/clock_offset.hpp"
#include "runtime/collect/collector.hpp"
#include "runtime/collect/names.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace effort::engine {

/// Evaluates the arrivals that the node's ranks have reported.  Used by the background thread.
class WaitFinder {
 public:
  /// @param ranks  global ids of the node's ranks, ascending
  /// @param names  outlives it; gets the names of its metrics
  WaitFinder(std::span<const int> ranks, int n_ranks, NameUnion& names);

  /// Evaluates the arrivals up to the step that the collector has read, and adds the waits to its block: the arrays of
  /// the analysis, and series of the history.  Names must have been shared.  Collective; blocks.
  void find(Communicator& nodes, Collector& collector);
  /// How many collectives were evaluated, and how exactly, as a note.  Identical on all nodes.
  std::string account() const;

 private:
  void compare_clocks(Communicator& nodes);
  std::int64_t node_ns(std::uint64_t ticks) const;

  NameUnion& names_;
  communication::CollectiveWaits waits_;
  const std::uint64_t origin_;  ///< of node_ns()
  ClockOffset clock_;
  std::int64_t compared_ = 0;       ///< when the clocks were last compared, ns
  std::int64_t bound_ = 0;          ///< of the error of a difference of two nodes' times, ns
  std::int64_t largest_bound_ = 0;  ///< so far
  NodeId region_, delay_, wait_, transfer_;
};

}  // namespace effort::engine
