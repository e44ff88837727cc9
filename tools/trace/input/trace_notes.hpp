// Notes on what a trace lacks, and how accurate it is.
#pragma once

#include <cstddef>

#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// Adds a note on how many time stamps are those of similar steps, and how far they are off; none if there are none.
void note_rebuilt(Trace& trace);

// The following are for effort traces.
/// Adds a note if no kept rank has events before its second step.
void note_first_step(Trace& trace);
/// Adds a note if the trace of some of the `there` nodes breaks off.
void note_end(Trace& trace, std::size_t there);
/// Adds a note on collectives of communicators whose members are unknown.  Messages between two ranks name ranks of the
/// run, and need no members.
void note_unknown_communicators(Trace& trace);

}  // namespace effort::tools
