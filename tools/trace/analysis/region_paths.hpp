// Call paths, and the regions as which they were measured on all ranks (docs/adr/0057).
#pragma once

#include <cstdint>
#include <vector>

#include "tools/trace/analysis/call_table.hpp"

namespace effort::tools {

/// How a quantity that was measured per region divides among call paths.
class RegionPaths {
 public:
  static constexpr std::uint32_t none = 0xffffffff;
  /// @param quantity     the one that was measured
  /// @param measured_as  [paths] the region that it was measured as, or `none`
  RegionPaths(const Trace& trace, const std::vector<WindowCalls>& table, double CallSums::*quantity,
              const std::vector<std::uint32_t>& measured_as);

  /// The paths measured as the region.
  const std::vector<std::int32_t>& of(std::uint32_t region) const { return paths_of_[region]; }
  /// The share of the path in its region on all kept ranks; equal shares if they have none of the quantity.
  double share(std::int32_t path, std::uint32_t region) const;

 private:
  std::vector<std::vector<std::int32_t>> paths_of_;  ///< [regions]
  std::vector<double> amount_;                       ///< [paths] of all kept ranks
  std::vector<double> region_amount_;                ///< [regions] the sum over its paths
};

/// The paths' regions for measured times.  A path has none if the measured time of its region is not that of its calls:
/// if several threads of a rank call it, it may be that of the busiest one, and brief gaps between polls count as
/// waiting in the poll.  MPI calls inside a region that is not of kind COMPUTE are part of that region.
std::vector<std::uint32_t> timed_as(const Trace& trace, const CallPaths& paths);
/// The paths' regions for measured numbers of calls.  MPI calls inside a region that is not of kind COMPUTE are not
/// counted.
std::vector<std::uint32_t> counted_as(const Trace& trace, const CallPaths& paths);

}  // namespace effort::tools
