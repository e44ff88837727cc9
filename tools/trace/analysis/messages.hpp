// Matches the sends and receives of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// An event, by the index of its thread in Trace::threads and its own index in that thread.
struct EventPlace {
  std::size_t thread = 0, event = 0;
};

struct TraceMessage {
  std::uint32_t communicator = 0;
  std::int32_t sender = 0, receiver = 0, tag = 0;
  std::uint64_t bytes = 0;
  EventPlace send, receive;     ///< the send or its start; the completed receive
  std::int64_t send_ns = 0;     ///< start of the send
  std::int64_t receive_ns = 0;  ///< completion of the receive; never before send_ns
};

struct TraceMessages {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::vector<TraceMessage> matched;  ///< ordered by send_ns
  std::uint64_t unmatched_sends = 0, unmatched_receives = 0;
  std::uint64_t other_communicator = 0;  ///< matched though the ends name different communicators
  std::uint64_t clamped = 0;             ///< receives before their send, by more than the errors of times
  std::int64_t largest_clamp_ns = 0;
  /// [threads][events] the message that a send, a receive, or the start or completion of one is part of; none for all
  /// others, and for messages whose other end is missing.
  std::vector<std::vector<std::uint32_t>> of_event;
};

/// Matches by communicator, sender, receiver, tag and order: of the receives that got messages of one sender and tag,
/// the one posted first got the one sent first (MPI 4.0, section 3.5).  If the preceding events are missing (the
/// previous window was not kept, or the first steps of this one did not fit into the ring), the first message may have
/// been sent earlier or received already.  The sequences are then shifted until sizes agree, no receive completes
/// before its send begins (within the errors of stored times and clocks), and transfer times are even.  EZTrace names a
/// wrong communicator in some receives: in an archive of another tool, the remaining ends are matched without the
/// communicator if numbers and sizes agree.  Cost: O(n log n) in the messages.
TraceMessages match_messages(const Trace& trace);

}  // namespace effort::tools
