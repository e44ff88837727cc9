// Finds for which ranks the others wait, and whether the loads explain it.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/window/layout.hpp"
#include "analytics/window/pass.hpp"

namespace effort::window {

struct Waiting {
  /// advice_transfer or 0.  It is set if transfer, and the waiting that the mean loads do not explain, together take
  /// more than a twentieth of the ranks' time, and more than the waiting that the mean loads explain.
  std::uint32_t advice = 0;
  /// The part of the loss to imbalance (largest minus mean load) for which no rank waits: seconds per step >= 0.  The
  /// ranks with less load then have something else to do, such as writing files.  0 if the ranks do not meet in every
  /// step, because the waiting that a loss causes may then come later.
  double unawaited = 0;
};

/// Fills Result::delay, ::delay_region and ::transfer_efficiency; leaves them empty and unknown if some node has no
/// waits.  Call it after measure().  Collective; blocks.
///
/// A delay is blamed on the region in which the rank exceeds the mean of all ranks most.  The transfer efficiency is
/// POP's: the run time on a network that moves data in no time, relative to the elapsed time.  It is estimated from the
/// smallest time that any rank spends communicating without waiting for others.  Unless late senders are known, time in
/// point-to-point calls counts as waiting, so it is an upper bound.  For the same reason the unawaited loss is a lower
/// bound.
Waiting find_waiting(Communicator& nodes, const Layout& layout, Pass& pass);

}  // namespace effort::window
