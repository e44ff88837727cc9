// A node's clock compared with that of node 0.
#pragma once

#include <cstdint>

namespace effort::communication {

/// A node's clock against that of node 0, in ns.
struct NodeClock {
  std::int64_t offset = 0;  ///< this node's minus node 0's
  std::int64_t bound = 0;  ///< of the error of a difference between two nodes' times; a wait for a rank of another node
                           ///< only counts if it is longer
};

}  // namespace effort::communication
