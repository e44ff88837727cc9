// The calls of all ranks of the run, estimated from those of the sampled ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/sampling/estimate.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// A call path over all ranks, in all windows with a sample.
struct CallEstimate {
  std::string path;              ///< just the region, if no kept rank called it
  std::uint8_t kind = 0;         ///< of its innermost region
  sampling::Estimate count;      ///< calls that began
  sampling::Estimate seconds;    ///< without the calls inside them
  sampling::Estimate inclusive;  ///< with them, seconds
  sampling::Estimate bytes;      ///< sent and received by its messages and collectives
  double seen = 0;               ///< calls in the trace, of all kept ranks
  bool sampled = false;          ///< whether a sampled rank called it; if not, bytes are 0 and meaningless
  bool counted = false;          ///< whether a sampled rank called it, or its region's calls were counted on all ranks
  bool timed = false;            ///< whether a sampled rank called it, or its region was timed on all ranks
};

struct CallEstimates {
  std::vector<CallEstimate> calls;  ///< by seconds, the longest first
  std::int64_t steps = 0;           ///< of the windows with a sample
  std::size_t windows = 0;          ///< with a sample
  std::size_t measured = 0;         ///< of these, windows in which the time in regions was measured on all ranks
  std::size_t counted = 0;          ///< of these, windows in which the calls of regions were counted on all ranks
  std::size_t without_sample = 0;   ///< windows that are in no estimate
  std::size_t partly = 0;           ///< windows in which a stratum has no sampled rank; the others represent it
  std::size_t scaled = 0;           ///< sampled ranks and windows with dropped steps, scaled to all steps
};

/// Estimates by strata (sampling::Draw), added over windows.  Consecutive windows with the same sample, as the design
/// `subset` has them, count as one draw, because their errors are the same.  Only sampled ranks enter; a rank whose
/// events are lost is left out, and one that dropped steps is scaled to all steps of the window.  The time and calls of
/// a region that were measured on all ranks are not estimated, only how they divide among the call paths of the region
/// (docs/adr/0057); such times leave out what recording took.
/// Cost: linear in the events, and in call paths x sampled ranks x windows.
CallEstimates estimate_calls(const Trace& trace);

}  // namespace effort::tools
