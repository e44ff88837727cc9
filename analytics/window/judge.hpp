// Efficiencies of a window, and advice on problems of its loads.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/window/pass.hpp"

#include <cstdint>

namespace effort::window {

/// Sets the efficiencies of the result.  Computed on node 0.  Collective; blocks.
/// @param advice  bits that node 0 has found already
/// @return `advice` and the bits found here, the same on all nodes
std::uint32_t judge(Communicator& nodes, Pass& pass, std::uint32_t advice);

}  // namespace effort::window
