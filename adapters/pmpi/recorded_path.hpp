// Calls of threads that record their events and do nothing else at boundaries, outside all regions.
#pragma once

#include "adapters/pmpi/messages/message_call.hpp"
#include "adapters/pmpi/passage.hpp"
#include "runtime/measure/recorded_boundary.hpp"

namespace effort::pmpi {

/// Returns this thread's instance, created on first use; null if memory is exhausted.
MessageCall* message_call(Thread& thread);

/// Enters a call at the time `now` and leaves the slot's gate closed.  Null: nothing has changed.
Site* enter_recorded(Thread& thread, measure::ThreadSlot& slot, Call call, const Caller& from, std::uint64_t now);
/// Leaves it, and leaves the gate closed.  Returns false and changes nothing if another boundary came in between.
bool leave_recorded(Thread& thread, measure::ThreadSlot& slot, Site& site, bool in_vain, std::uint64_t now);
/// Charges the time since the call was left at `left`, in which `completions` were recorded, to no region.  Measured
/// only now and then, because reading the clock takes as long as recording a completion.
void disown_completions(Thread& thread, measure::ThreadSlot& slot, std::uint32_t completions, std::uint64_t left);

}  // namespace effort::pmpi
