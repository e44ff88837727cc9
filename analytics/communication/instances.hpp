// From the events of all threads to instances of patterns.  Internal.
#pragma once

#include "analytics/communication/patterns.hpp"

namespace effort::communication {

/// Sets Patterns::instances and Patterns::events.  Which pattern an instance is of is left open.
Patterns join_instances(const Record& record, Events events);

}  // namespace effort::communication
