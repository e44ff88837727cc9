// The offset of a node's clock from that of node 0, derived from messages that are exchanged anyway.
#pragma once

#include "analytics/comm/communicator.hpp"

#include <cstdint>
#include <functional>
#include <limits>

namespace effort::engine {

/// A message from node 0 bounds the difference of the clocks from one side, a message to it from the other: nothing
/// arrives before it is sent (Cristian 1989).  The bounds of several rounds are intersected, so the shortest delays
/// count.
class ClockOffset {
 public:
  /// @param now  reads this node's clock, in ns
  explicit ClockOffset(std::function<std::int64_t()> now) : now_(std::move(now)) {}

  /// One message each way.  Collective; blocks.
  void round(Communicator& nodes);
  /// Forgets the bounds, because clocks drift.
  void restart() {
    least_ = std::numeric_limits<std::int64_t>::min();
    most_ = std::numeric_limits<std::int64_t>::max();
    sent_ = -1;
  }
  /// Allows for the drift of the clocks since the last round.
  void widen(std::int64_t ns) {
    if (!known()) return;
    least_ -= ns;
    most_ += ns;
  }
  /// Whether both bounds are known: after two rounds.
  bool known() const {
    return least_ != std::numeric_limits<std::int64_t>::min() && most_ != std::numeric_limits<std::int64_t>::max();
  }
  /// This node's clock minus node 0's, in ns; 0 if not known, as on a single node.
  std::int64_t offset() const { return known() ? least_ + (most_ - least_) / 2 : 0; }
  /// Its largest error, if known.
  std::int64_t bound() const { return known() ? (most_ - least_ + 1) / 2 : 0; }

 private:
  std::function<std::int64_t()> now_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::min(), most_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t sent_ = -1;      ///< when this node sent to node 0 in the round before; < 0: there was none
  std::int64_t received_ = -1;  ///< node 0: when it had received from all nodes
};

}  // namespace effort::engine
