// What each kept rank did on each call path.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "tools/trace/model/call_paths.hpp"
#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// The activity of a rank on a call path.
struct CallSums {
  double count = 0, seconds = 0, bytes = 0;
  double seen = 0;  ///< count, unscaled
  CallSums& operator+=(const CallSums& other) {
    count += other.count;
    seconds += other.seconds;
    bytes += other.bytes;
    seen += other.seen;
    return *this;
  }
};
using CallsByPath = std::unordered_map<std::int32_t, CallSums>;

/// The calls in a window, of ranks that were not only kept as partners.
struct WindowCalls {
  std::map<std::int32_t, CallsByPath> of_rank;
  std::set<std::uint32_t> rebalancing;  ///< regions around a rebalance
};

/// @param paths  gets the paths of all calls
/// @return [windows]
/// Cost: linear in the events.
std::vector<WindowCalls> call_table(const Trace& trace, CallPaths& paths);

}  // namespace effort::tools
