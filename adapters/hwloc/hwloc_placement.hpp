// Placement of the background thread with hwloc.
#pragma once

#include "runtime/engine/placement.hpp"

namespace effort::adapters {

/// Takes, in this order: a core that no rank of the node is bound to, a sibling hardware thread of a rank's core, and
/// otherwise stays unbound.  Loading the topology costs some milliseconds, on the background thread.
class HwlocPlacement final : public engine::Placement {
 public:
  Choice choose(std::span<const cpu_set_t> ranks) override;
};

}  // namespace effort::adapters
