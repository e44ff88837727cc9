// Waits for late senders on all ranks, if the ranks record their messages for a trace.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/communication/late_senders.hpp"
#include "runtime/collect/collector.hpp"
#include "runtime/collect/message_reader.hpp"
#include "runtime/collect/names.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace effort::engine {

/// Reads the messages of the node's ranks from their trace memories and finds the ranks that waited.  Used by the
/// background thread.
class MessageWaits {
 public:
  /// @param ranks    global ids of the node's ranks, ascending
  /// @param node_ns  from ticks to ns on the node's clock
  MessageWaits(std::span<const int> ranks, int n_ranks, node::Segment& segment, const Collector& collector,
               const NameUnion& names, const std::function<std::int64_t(std::uint64_t)>& node_ns);

  /// Seconds of one of the node's ranks in calls that sent or received something, in one step.
  struct Inside {
    int local;
    std::int64_t step;
    double seconds;
  };

  /// Evaluates the messages up to the end of the step `last`, which all ranks have ended.  Collective; blocks.
  /// @return false on all nodes if the waits are unknown, because records of some rank have been lost
  bool find(Communicator& nodes, const communication::NodeClock& clock, std::int64_t last);
  /// Whether some rank has recorded a message so far.  The same on all nodes.
  bool any() const { return any_; }
  /// Of the last find() that returned true.
  const std::vector<communication::LateSender>& waits() const { return waits_; }
  const std::vector<Inside>& inside() const { return inside_; }

  /// A clause for the note on waits that says how many messages were evaluated; empty if there were none.  Collective;
  /// blocks.
  std::string account(Communicator& nodes) const;

 private:
  communication::LateSenders messages_;
  std::vector<MessageReader> readers_;
  std::vector<communication::LateSender> waits_;
  std::vector<Inside> inside_;
  std::int64_t looks_ = 0, incomplete_ = 0;
  bool given_up_ = false, any_ = false;
};

}  // namespace effort::engine
