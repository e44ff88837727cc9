// The loads of one window: means, maxima and sums over all ranks, and the peaks of regions.
#pragma once

#include "analytics/balance/spikes.hpp"
#include "analytics/comm/communicator.hpp"
#include "analytics/window/pass.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::window {

/// Finds regions whose loads peak at regular intervals, and the same for the rest of the load.
class RowPeaks {
 public:
  /// The regions have changed.
  /// @param rows  regions, and one row for the rest of the rank's load
  void restart(int rows) { rows_.assign(static_cast<std::size_t>(rows), {}); }
  /// @param region_maxima  [n_regions][steps] largest load of any rank
  void observe(const Pass& pass, std::span<const double> region_maxima);
  bool periodic() const;
  std::size_t bytes() const { return rows_.size() * (sizeof(balance::SpikeFinder) + 8 * sizeof(std::int64_t)); }

 private:
  std::vector<balance::SpikeFinder> rows_;  // [rows]
};

/// Sets the dimensions and the means over the steps, on this node alone.
/// @return the problem if a load or an amount of work is not finite; else nothing
std::string take_means(Pass& pass);
/// Measures the window over all ranks.  Collective; blocks.
void measure(Communicator& nodes, Pass& pass, RowPeaks& peaks);

}  // namespace effort::window
