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
  late_sender,     ///< a receive, the completion of one, or a probe began before the send
  late_receiver,   ///< a send, or the completion of one, was held up until the receive was posted
  barrier,         ///< until the last rank reached a barrier
  nxn,             ///< until the last rank reached an allreduce, alltoall, allgather, ...
  early_reduce,    ///< the root of a reduction or gather, until the last sender arrived
  late_broadcast,  ///< in a broadcast or scatter, until the root arrived
  early_scan,      ///< in a prefix reduction, until the last of the lower ranks arrived
};
inline constexpr std::size_t n_causes = 7;

/// "late_sender", ...
std::string_view cause_text(Cause cause);

/// A call that waited, from its start.
struct Wait {
  std::uint32_t call = 0;
  std::uint32_t for_call = 0;  ///< the call whose start ended the wait: of a send, a receive or a collective
  std::int64_t ns = 0;         ///< > 0, at most the call's duration
  Cause cause = Cause::late_sender;
};

struct Waits {
  std::vector<Wait> waits;            ///< by call, at most one each
  std::uint64_t lower_bounds = 0;     ///< collectives with missing ranks, which may have arrived even later
  std::uint64_t unknown = 0;          ///< collectives with unknown waits: the root is missing, or its calls
                                      ///< contradict each other
  std::uint64_t unfinished = 0;       ///< parts in collectives whose completion is not known
  std::uint64_t reversed = 0;         ///< messages that arrived before they were sent, according to the clocks
  std::int64_t largest_reversal = 0;  ///< ns
};

/// - Late sender: from the start of the call that completes the receive to the start of the call that sends.  A call
///   that completes several messages waits for the one sent last.  A blocking probe waits for the message that its
///   thread receives next, unless the probe ended before that message was sent.
/// - Late receiver: from the start of the call that completes the send to the start of the call that posts the receive,
///   if the former had not ended by then, to the accuracy of clocks and time stamps.  A rendezvous ends soon after the
///   receive is posted, so an error of either time would hide the whole wait.  A buffered send mistaken for a
///   rendezvous is short.  A call with a late sender has no late receiver.
/// - Collectives: from the start of the call that completes a rank's part to the start of the last call that it depends
///   on.  In an intercommunicator, these are calls of the other group.
///
/// A wait is at most as long as its call, which cuts off clock errors.  A call that completes messages and non-blocking
/// collectives has one wait, for the last of them.  Calls that began before the kept part of a trace are ignored, and
/// so are neighbourhood collectives, because the record does not say which ranks are neighbours.  Cost: O(calls +
/// messages + participations); 24 bytes a call.
Waits find_waits(const Record& record);

/// The span that each wait belongs to: by the step in which the waiting call began, or by its time if the rank has no
/// steps.  none: no span.
/// @return [waits] indices in Record::spans.  Cost: O(waits log (steps of a rank + spans)).
std::vector<std::uint32_t> spans_of(const Record& record, const Waits& waits,
                                    const std::vector<std::uint32_t>& location_of);

/// Waiting by cause and rank, in ns: [causes][ranks].
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
