// Pairs of ranks that communicate (Aguilera, Teller, Taufer & Wolf 2006, section 4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

/// All messages between two ranks, in both directions.
struct Pair {
  std::int32_t a = 0, b = 0;  ///< a < b
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::int64_t time_ns = 0;   ///< from the start of the send to the end of the receive, summed
  std::int64_t calls_ns = 0;  ///< duration of the call that sends and of the one that completes the receive, summed
};

struct Pairs {
  std::vector<Pair> pairs;         ///< by a, then b
  std::uint64_t to_self = 0;       ///< messages of ranks to themselves: no pair
  std::uint64_t unknown_ends = 0;  ///< messages with an unknown start or end: counted, but without a time
};

/// A message that arrives before it is sent, according to the clocks, takes no time.
/// Cost: O(messages log pairs).
Pairs find_pairs(const Record& record);

/// Time of one message from the start of its send to the end of its receive, ns >= 0; -1 if it is not known.
std::int64_t message_ns(const Record& record, const Message& message);

/// The distance between two ranks that communicate: 1 / time_ns (Aguilera et al. 2006, figure 1; here the time is in
/// ns, and at least 1 ns).
double pair_distance(const Pair& pair);

}  // namespace effort::communication
