// Halos on grids of ranks.  Internal.
#pragma once

#include <optional>

#include "analytics/communication/shapes.hpp"

namespace effort::communication {

/// The grid and stencil whose halo exchange is this traffic.  No rank has links to itself.
/// @param small_corners  whether each message to a corner (or edge) has to be smaller than each one to a face
std::optional<Shape> recognise_halo(const Traffic& traffic, bool small_corners);

}  // namespace effort::communication
