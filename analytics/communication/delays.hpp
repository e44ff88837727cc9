// Delays: the work that made ranks late while others waited for them.
#pragma once

#include <cstdint>
#include <vector>

#include "analytics/communication/timeline.hpp"

namespace effort::communication {

/// The waiting that a rank caused on one call path, in one span.
struct Delay {
  std::int32_t rank = 0;
  std::uint32_t span = none;    ///< index in Record::spans, of the calls that waited directly for this rank
  std::uint32_t path = none;    ///< none: outside of all calls, before a call on the path `before`
  std::uint32_t before = none;  ///< if `path` is none: path of the call that others waited for
  double ns = 0;                ///< all waiting it caused
  double propagated_ns = 0;     ///< the indirect part, through waits of ranks that others waited for in turn
};

struct Delays {
  std::vector<Delay> delays;  ///< by span; within a span the largest first
  /// Waiting without a delay: since the ranks were last synchronized, the late one had done no more than those that
  /// waited for it.  Latency, transfers and clock errors end up here.
  double unexplained_ns = 0;
  std::vector<double> unexplained_of;  ///< [spans + 1] the same by span; the last one: outside of all spans
};

/// Adds up the delays of spans.
/// @param chosen  [spans + 1]; the last one: outside of all spans
/// @return the largest first; their `span` is none
std::vector<Delay> delays_of(const Delays& delays, const std::vector<bool>& chosen);

/// Follows waits back to the rank and call path that took too long (Böhme, Geimer, Wolf & Arnold 2010, "Identifying
/// the root causes of wait states in large-scale parallel applications", ICPP, section 3; delay costs).
///
/// For a rank a that waits for a rank b, the interval of comparison begins where the two were last synchronized: at the
/// end of the last wait of one for the other, or of the last collective with a wait that both took part in; at their
/// first record if there is none.  On each call path, the delay is the time by which b exceeds a in this interval,
/// waits excluded.  The wait is divided among the delays and b's own waits in the interval, in proportion to their
/// lengths; no share exceeds its length.  The share of b's waits is then divided among their causes in the same way.
///
/// An interval reaches back over at most 1000 changes of a thread's innermost call.
/// Cost: O(waits x (interval + log calls)).
Delays find_delays(const Record& record, const CallTree& tree, const Waits& waits, const Timeline& timeline);

}  // namespace effort::communication
