// Waits of all ranks at collectives and for late senders, for the hint and the history.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/communication/collective_waits.hpp"
#include "runtime/collect/clock_offset.hpp"
#include "runtime/collect/collector.hpp"
#include "runtime/collect/message_waits.hpp"
#include "runtime/collect/names.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace effort::engine {

/// Evaluates the arrivals that the node's ranks have reported and, where all ranks record them, their messages.  Used
/// by the background thread.
class WaitFinder {
 public:
  /// @param ranks  global ids of the node's ranks, ascending
  /// @param names  outlives it; gets the names of its metrics
  WaitFinder(std::span<const int> ranks, int n_ranks, NameUnion& names);

  /// Looks for late senders as well from now on.  Call it before the first find().
  void follow_messages(std::span<const int> ranks, int n_ranks, node::Segment& segment, const Collector& collector);

  /// Evaluates the steps up to `last`, which the collector has read, and adds the waits to its block: the arrays of the
  /// analysis, and series of the history.  Delays are followed back if late senders are known; otherwise they are those
  /// at collectives.  Names must have been shared.  Collective; blocks.
  void find(Communicator& nodes, Collector& collector, std::int64_t last);
  /// A note on how much was evaluated, and how accurately.  Collective; blocks.
  std::string account(Communicator& nodes) const;

 private:
  class Pass;

  void compare_clocks(Communicator& nodes);
  void add_collectives(Communicator& nodes, Collector& collector, Pass& pass);
  bool add_messages(Communicator& nodes, std::int64_t last, Pass& pass);
  std::int64_t node_ns(std::uint64_t ticks) const;

  NameUnion& names_;
  const std::vector<int> ranks_;  ///< of the node
  const int n_ranks_;
  communication::CollectiveWaits waits_;
  std::unique_ptr<MessageWaits> messages_;  ///< null: messages are not recorded
  const std::uint64_t origin_;              ///< of node_ns()
  ClockOffset clock_;
  std::int64_t compared_ = 0;       ///< when the clocks were last compared, ns
  std::int64_t bound_ = 0;          ///< of the error of a difference of two nodes' times, ns
  std::int64_t largest_bound_ = 0;  ///< so far
  std::int64_t next_step_ = 0;      ///< not evaluated yet
  NodeId region_, delay_, wait_, transfer_, late_sender_, message_transfer_, caused_;
};

}  // namespace effort::engine
