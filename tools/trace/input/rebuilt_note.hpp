// The note on the accuracy of a trace that was reduced during the run.
#pragma once

#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// Adds a note on how many time stamps are those of similar steps, and how far they are off; none if there are none.
void note_rebuilt(Trace& trace);

}  // namespace effort::tools
