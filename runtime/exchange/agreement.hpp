// Agreement of all ranks on whether to continue, so that none continues alone.  Blocking and collective over all ranks
// of the transport.
//
// Initialization is a sequence of stages.  In each stage, a rank first does the work that may fail on this rank alone
// and records the outcome as a Status.  It then calls worst_status() whatever the outcome, because the other ranks wait
// for it there.  If the worst status is ok, all ranks go on; otherwise all release the transport and return that
// status.  On a rank that failed itself, effort_last_error says why; on the others, that another rank failed.  If the
// transport fails (Status::mpi), nothing more can be agreed on: each rank returns at once.
//
// effort_init_mpi (effort_attach_transport in capi/src/attach_api.cpp):
//   1. worst_status: the call is allowed here, and this rank's settings are valid
//   2. same_on_all_ranks: the ranks have made the same calls before (Standing)
//   3. Session::agree: rank 0 broadcasts the length of its settings; worst_status: there is memory for them; rank 0
//      broadcasts them; worst_status: they have been applied
//   4. worst_status: the session has been made, adopted or kept
//   then, unless the session is kept or the library is disabled, Session::attach.
// AdapterPort::attach (capi/src/adapter_api.cpp), for an adapter that has begun the session itself:
//   1. worst_status: this rank has a session without ranks
//   then Session::attach.
// Session::attach (runtime/session/session_attach.cpp):
//   5. Session::agree, for settings of a session that was begun earlier; worst_status: the session can follow them
//   6. Session::join, with a worst_status after each of these: memory for the places of all ranks; forming the nodes;
//      sharing a node's memory (if the system refuses, each of its ranks becomes a node of its own); connecting the
//      leaders and starting their engines
//
// Before that, right after MPI_Init, the MPI adapter asks whether all ranks have it (adapters/pmpi/agree.hpp).  Ranks
// without the adapter never answer, so the functions below cannot be used for this.  The adapter uses non-blocking
// operations with a time limit instead.
#pragma once

#include "runtime/exchange/transport.hpp"
#include "runtime/status.hpp"

#include <cstdint>

namespace effort::exchange {

/// The worst status over all ranks, which is the one with the lowest value.  The same on every rank.
/// @throws Error(mpi) if the transport fails
Status worst_status(Transport& transport, Status mine);

/// Whether all ranks pass the same value; the same answer on every rank.
/// @throws Error(mpi) if the transport fails
bool same_on_all_ranks(Transport& transport, std::int64_t value);

}  // namespace effort::exchange
