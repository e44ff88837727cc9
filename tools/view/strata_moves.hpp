// A summary of how ranks moved between strata.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "record/run.hpp"

namespace effort::tools {

/// Ranks that went from one stratum to another (or stayed) between two successive windows of StrataMovement.
struct StrataFlow {
  std::size_t window = 0;  ///< index into StrataMovement::windows of the earlier one
  std::int32_t from = 0, to = 0;
  std::int64_t ranks = 0;
};

struct StrataWindow {
  std::int64_t first = 0, last = 0;  ///< steps, inclusive
  std::vector<std::int64_t> sizes;   ///< ranks by stratum
};

struct StrataMovement {
  std::vector<StrataWindow> windows;  ///< oldest first
  std::vector<StrataFlow> flows;
  std::vector<std::int64_t> first, last;  ///< steps of every kept window except the first
  std::vector<std::int64_t> moved;        ///< ranks whose stratum differs from the previous kept window
  std::vector<std::pair<std::int32_t, std::int64_t>>
      movers;  ///< ranks that moved most often, and how often; at most `most_movers`
};

/// @param most_windows  windows between which flows are given, at least 2: the first, the last, those around the
///                      largest moves, and others in between
/// Empty if fewer than two windows are kept.  Time: O(windows kept + ranks x most_windows + ranks that moved).
StrataMovement strata_movement(const record::Run& run, std::size_t most_windows, std::size_t most_movers);

/// For the page.
nlohmann::ordered_json movement_json(const StrataMovement& movement);

}  // namespace effort::tools
