// Joins the events of all threads into instances of patterns.  Internal.
#pragma once

#include "analytics/communication/patterns.hpp"

namespace effort::communication {

/// Sets Patterns::instances and Patterns::events, but not the pattern of each instance.
Patterns join_instances(const Record& record, Events events);

}  // namespace effort::communication
