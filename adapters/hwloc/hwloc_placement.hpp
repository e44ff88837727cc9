// Placement of the background thread with hwloc.
#pragma once

#include "runtime/engine/placement.hpp"

namespace effort::adapters {

/// Prefers cores to which no rank of the node is bound, then sibling hardware threads of the ranks' cores, and
/// otherwise uses all units of the node's ranks.  If no rank is bound, the thread is not bound either.  Loading the
/// topology takes some milliseconds of the background thread.
class HwlocPlacement final : public engine::Placement {
 public:
  Choice choose(std::span<const cpu_set_t> ranks) override;
};

}  // namespace effort::adapters
