// Reductions of a trace, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analytics/reduction/reduction.hpp"

namespace effort::tools {

/// How a trace is cut.
struct SegmentChoice {
  reduction::Segments segments;
  std::string what;  ///< "steps", or the regions' names
};

/// @param names  of regions, or of their innermost part; empty: the regions that the trace marks as loop iterations, or
///               its steps if it marks none
/// @throws std::runtime_error if nothing has such a name, or if there are neither marks nor steps
SegmentChoice choose_segments(const communication::Record& record, const std::vector<std::string>& names,
                              const std::vector<bool>& loops);

/// One method's result.
nlohmann::ordered_json reduced_json(const communication::Record& record, const SegmentChoice& choice,
                                    const reduction::Reducer& reducer, const reduction::Reduced& reduced);
/// A table, with sentences about the only or the best method before it; if there is only one, also what it keeps of
/// each context.
std::string reduced_text(const communication::Record& record, const SegmentChoice& choice,
                         const reduction::Reducer& reducer, const std::vector<reduction::Reduced>& all);

}  // namespace effort::tools
