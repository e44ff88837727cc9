// Finds instances of patterns that took much longer than others, and their causes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analytics/communication/patterns.hpp"

namespace effort::communication {

/// Why an instance is slow.
enum class SlowCause : std::uint8_t {
  late_sender,    ///< a rank was late, and others waited to receive from it
  late_receiver,  ///< a rank was late, and others waited to send to it
  late_partner,   ///< a rank was late at a collective
  transfer,       ///< no rank was late: the network, or a wait for it
  noise,          ///< a rank was held up between its calls, in this instance only
};

/// "late_sender", ...
const char* slow_cause_name(SlowCause cause);

struct SlowInstance {
  std::size_t instance = 0;
  double z = 0;          ///< modified Z-score of its duration
  double median_ns = 0;  ///< of the durations in its class
  SlowCause cause = SlowCause::transfer;
  std::int32_t last_rank = 0;                  ///< the rank that was late, or else the last to start
  std::int32_t first_done = 0, last_done = 0;  ///< ranks that are the first and last to finish
  std::size_t shortest = 0, longest = 0;       ///< events: indices in Patterns::events
};

/// Finds slow instances (Alawneh & Hamou-Lhadj 2022, section 4.2): those whose duration has a modified Z-score above
/// the cut-off among the instances of the same pattern and bytes.  Classes of fewer than `smallest_class` get no
/// verdict.
///
/// The paper blames the last rank to start, and its first event.  Here that rank is blamed only if its lateness
/// explains the delay:
/// - The instance took E longer than the median of its class.  If the last rank started at least E / 2 later after the
///   first one than in the median instance, it was late.
/// - Else, if between its first and last event a rank spent at least E / 2 longer outside its calls than the usual
///   maximum of the class, it was held up.  That is noise, unless the rank is held up in other slow instances of the
///   class too, which makes it late.
/// - Else the cause is the transfer.
///
/// A late rank is a late partner if its first event (after the pause) is a collective.  It is a late sender if another
/// rank was already waiting to receive from it.  Else it is a late receiver if another rank was already waiting to send
/// to it.  Receives are considered first, because a send often completes without the receiver, but a receive never
/// without the sender.  If no rank waited, the late rank's first event decides, as in the paper.
///
/// @param cutoff  e.g. 3.5
/// @return by instance.  Cost: linear in instances and in the events of classes with a slow instance.
std::vector<SlowInstance> find_slow(const Record& record, const Patterns& patterns, double cutoff);

inline constexpr std::size_t smallest_class = 5;

}  // namespace effort::communication
