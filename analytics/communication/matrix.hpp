// The communication matrix: bytes, messages and time by sender, receiver and call path.
#pragma once

#include <cstdint>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

/// Number of messages of 2^(size_class - 1) to 2^size_class - 1 bytes; of class 0: of empty ones.
struct SizeCount {
  std::int32_t size_class = 0;
  std::uint64_t messages = 0;
};
/// Adds messages to counts that are sorted by class.
void add_size(std::vector<SizeCount>& sizes, std::int32_t size_class, std::uint64_t messages);

/// Point-to-point messages from one rank to another, on one call path of the sender or the receiver.
struct Flow {
  std::int32_t a = 0, b = 0;  ///< from a to b; equal for messages of a rank to itself
  std::uint32_t path = none;  ///< of the call that sends, completes a send, receives, or completes a receive
  std::uint64_t messages = 0, bytes = 0;  ///< counted on the path that sends them; 0 on other paths
  std::vector<SizeCount> sizes;           ///< of the messages, ascending
  double ns = 0;  ///< time in calls of this path; a call that completes several messages counts in equal parts
};

/// @param path_of_call  [calls] CallTree::of_call
/// @return flows by a, b, path; pairs that exchanged nothing are absent
/// Cost: O(messages log flows).
std::vector<Flow> message_matrix(const Record& record, const std::vector<std::uint32_t>& path_of_call);

}  // namespace effort::communication
