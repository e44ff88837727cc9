#include "runtime/collect/clock_offset.hpp"

#include <algorithm>
#include <span>

namespace effort::engine {

void ClockOffset::round(Communicator& nodes) {
  std::int64_t zero[2] = {
      now_(), received_};  // node 0: when it sends now, and when it had received everything in the last round
  nodes.bcast(std::span<std::int64_t>(zero), 0);
  const std::int64_t now = now_();
  if (nodes.rank() == 0) {
    least_ = most_ = 0;
  } else {
    most_ = std::min(most_, now - zero[0]);
    if (sent_ >= 0 && zero[1] >= 0) least_ = std::max(least_, sent_ - zero[1]);
  }
  sent_ = now_();
  static_cast<void>(nodes.gatherv(std::span<const std::int64_t>(&sent_, 1), 0));
  received_ = now_();
}

}  // namespace effort::engine
