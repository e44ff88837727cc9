// The critical path: the chain of activities that determined how long the run took.
#pragma once

#include <cstdint>
#include <vector>

#include "analytics/communication/timeline.hpp"

namespace effort::communication {

/// A rank's time on the critical path, on one call path.
struct CriticalActivity {
  std::int32_t rank = 0;
  std::uint32_t path = none;  ///< none: outside of all calls
  std::int64_t ns = 0;
};

struct CriticalPath {
  std::vector<CriticalActivity> activities;  ///< the longest first
  std::int64_t ns = 0;                       ///< the path's length
  /// The part of the path that balance would have saved: on each call path, its time on the critical path minus the
  /// mean of all ranks' time there, if positive (the critical-path imbalance indicator, Böhme et al. 2012, section 3).
  std::int64_t imbalance_ns = 0;
};

/// Backward replay (Böhme, Wolf, de Supinski, Schulz & Geimer 2012, "Scalable critical-path based performance
/// analysis", IPDPS): it starts at the end of the rank that ended last, and at each wait moves to the rank that was
/// waited for.  Waits are never on the path.  Parts of a run with a gap between them have a path each, and the paths
/// are added up.  Clock errors can make ranks appear to wait for each other at the same time; the path then stays on
/// its present rank.
/// @param chosen  [spans] the spans to follow it through; the imbalance is that of these spans, too.  Empty: all
/// Cost: O(calls + jumps log calls).
CriticalPath critical_path(const Record& record, const CallTree& tree, const Waits& waits, const Timeline& timeline,
                           const std::vector<bool>& chosen = {});

}  // namespace effort::communication
