// Wait states: which calls waited, for how long, why, and for whom.
//
// The definitions are those of Scalasca 2.6 (Wolf & Mohr 2003, "Automatic performance analysis of hybrid MPI/OpenMP
// applications"; the manual "Scalasca performance properties", and the trace analyser's pattern definitions).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

enum class Cause : std::uint8_t {
  late_sender,     ///< a call that receives, or completes receives, came before the send
  late_receiver,   ///< a call that sends, or completes sends, was held up until the receive was posted
  barrier,         ///< until the last rank came to a barrier
  nxn,             ///< until the last rank came to an allreduce, alltoall, allgather, ...
  early_reduce,    ///< the root of a reduction or gather, until the last of those that send came
  late_broadcast,  ///< in a broadcast or scatter, until the root came
  early_scan,      ///< in a prefix reduction, until the last of the ranks before this one came
};
inline constexpr std::size_t n_causes = 7;

/// "late_sender", ...
std::string_view cause_text(Cause cause);

/// A call that waited, from its begin.
struct Wait {
  std::uint32_t call = 0;
  std::uint32_t for_call = 0;  ///< the call whose begin ended the wait: of a send, of a receive, of a collective
  std::int64_t ns = 0;         ///< > 0, at most the call's duration
  Cause cause = Cause::late_sender;
};

struct Waits {
  std::vector<Wait> waits;            ///< by call, at most one each
  std::uint64_t lower_bounds = 0;     ///< collectives in which ranks are missing: somebody may have come even later
  std::uint64_t unknown = 0;          ///< collectives whose waits are not known: the root is missing, or its calls
                                      ///< contradict each other
  std::uint64_t unfinished = 0;       ///< parts in collectives of which it is not known where they were completed
  std::uint64_t reversed = 0;         ///< messages that arrived before they were sent, according to the clocks
  std::int64_t largest_reversal = 0;  ///< ns
};

/// - Late sender: from the begin of the call that completes the receive to the begin of the call that sends.  A call
///   that completes several messages waits for the one sent last.
/// - Late receiver: from the begin of the call that completes the send to the begin of the call that posts the receive,
///   if the former was not over by then, as far as clocks and time stamps tell.  A rendezvous ends soon after the
///   receive is posted, so an error of either would hide the whole wait; a buffered send that is taken for one is
///   short.  A call with a late sender has no late receiver.
/// - Collectives: from the begin of the call that completes a rank's part to the begin of the last call that it needs.
///   In an intercommunicator, these are calls of the other group.
///
/// Nobody waits longer than his call lasts: errors of clocks are cut off there.  A call that completes messages and
/// non-blocking collectives waits once, for the last of them.  What began before the kept part of a trace enters
/// nothing, neither do neighbourhood collectives, since the record does not say who the neighbours are.
/// Cost: O(calls + messages + participations); 24 bytes a call.
Waits find_waits(const Record& record);

/// Seconds by cause and rank, in ns: [causes][ranks].
using WaitTotals = std::array<std::vector<std::int64_t>, n_causes>;
WaitTotals total_waits(const Record& record, const Waits& waits, const std::vector<std::uint32_t>& location_of);

/// The waits of a cause on a call path.
struct PathWaits {
  std::uint32_t path = 0;
  Cause cause = Cause::late_sender;
  std::uint64_t count = 0;
  std::int64_t ns = 0;
};
/// @param path_of_call  [calls] CallTree::of_call
/// @return those with waits, the longest first
std::vector<PathWaits> waits_by_path(const Waits& waits, const std::vector<std::uint32_t>& path_of_call);

}  // namespace effort::communication
