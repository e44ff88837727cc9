// Names of the patterns that were found.  Internal.
#pragma once

#include "analytics/communication/patterns.hpp"

namespace effort::communication {

/// Sets Pattern::name and Pattern::grid.
void name_patterns(const Record& record, Patterns& patterns);

}  // namespace effort::communication
