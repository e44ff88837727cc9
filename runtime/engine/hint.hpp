// Publishes the results of a look as a hint on the node's board.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "analytics/window/window.hpp"
#include "runtime/collect/names.hpp"
#include "runtime/node/segment.hpp"

#include <cstdint>

namespace effort::engine {

/// A look's number in the run, when its hint is due, and the next look.
struct Look {
  std::int64_t number;
  node::Appointment now, next;
};

/// Collective over nodes: either all of them publish the hint or none does.
void publish_hint(const window::Result& result, const Look& look, const node::SampleContent& sample,
                  const RunNames& names, Communicator& nodes, node::Segment& segment);

}  // namespace effort::engine
