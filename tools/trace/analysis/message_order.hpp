// Finds which send belongs to which receive, between two ranks, from their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "tools/trace/analysis/messages.hpp"

namespace effort::tools {

/// One end of a message.
struct End {
  std::int32_t sender = 0, receiver = 0;
  std::uint32_t communicator = 0;
  std::int32_t tag = 0;
  std::int64_t order_ns = 0;    ///< start of the send, or posting of the receive
  std::size_t order_event = 0;  ///< order among those at the same ns
  EventPlace place;
  std::int64_t time_ns = 0;  ///< start of the send, or completion of the receive
  std::uint64_t bytes = 0;
  std::size_t window = 0;
  std::int64_t error_ns = 0;  ///< bound on the error of time_ns
  bool matched = false;

  auto channel() const { return std::tuple(sender, receiver, communicator, tag); }
  auto pair() const { return std::tuple(sender, receiver, tag); }
  auto key() const { return std::tuple(channel(), order_ns, place.thread, order_event, place.event); }
};

/// Whether the two can be ends of one message.
/// @param clocks_ns  largest difference between the clocks of the two ranks
bool possible(const End& send, const End& receive, std::int64_t clocks_ns);

/// The receive of the first send, counted from the first receive; negative: the first sends have none.  Among the
/// possible shifts, the one with the most even transfer times is chosen, because a wrong shift adds the scatter of the
/// sends to them.  If that is not clear, the one nearest to `expected` is chosen.
std::ptrdiff_t best_shift(std::span<const End> sends, std::span<const End> receives, std::ptrdiff_t expected,
                          std::int64_t clocks_ns);

}  // namespace effort::tools
