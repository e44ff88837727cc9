// For which ranks the others wait, and whether the loads explain it.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/window/layout.hpp"
#include "analytics/window/pass.hpp"

namespace effort::window {

/// Fills Result::delay, ::delay_region and ::transfer_efficiency; leaves them empty and unknown if some node has no
/// waits.  Call it after measure().  Collective; blocks.
///
/// A delay is blamed on the region in which the rank exceeds the mean of all ranks most.  The transfer efficiency is
/// POP's: the run time on a network that moves data in no time, relative to the elapsed time.  It is estimated from
/// the time that ranks spend communicating without waiting for each other, of the rank that spends least.  Unless late
/// senders are known, time in point-to-point calls counts as waiting, so it is an upper bound.
/// @return advice_transfer or 0.  It is set if transfer, and the waiting that the mean loads do not explain, together
///         take more than a twentieth of the ranks' time, and more than the waiting that the mean loads explain
std::uint32_t find_waiting(Communicator& nodes, const Layout& layout, Pass& pass);

}  // namespace effort::window
