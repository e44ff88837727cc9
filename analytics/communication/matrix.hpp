// Who sent how much to whom, and where.
#pragma once

#include <cstdint>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

/// Point-to-point messages from one rank to another, as one call path of either of them sees them.
struct Flow {
  std::int32_t a = 0, b = 0;  ///< from a to b; equal for messages of a rank to itself
  std::uint32_t path = none;  ///< of the call that sends, completes a send, receives, or completes a receive
  std::uint64_t messages = 0, bytes = 0;  ///< counted where they are sent; 0 on other paths
  double ns = 0;  ///< in calls of this path; a call that completes several messages is divided among them equally
};

/// @param path_of_call  [calls] CallTree::of_call
/// @return flows by a, b, path; pairs that exchanged nothing are absent
/// Cost: O(messages log flows).
std::vector<Flow> message_matrix(const Record& record, const std::vector<std::uint32_t>& path_of_call);

}  // namespace effort::communication
