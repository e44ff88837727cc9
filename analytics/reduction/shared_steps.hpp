// Steps that represent others on all ranks at once, so that ranks wait for each other as they did in the step itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analytics/communication/waits.hpp"
#include "analytics/reduction/segments.hpp"

namespace effort::reduction {

/// A step is the n-th segment of every thread.
class SharedSteps {
 public:
  /// @param waits  of the record
  /// @param location_of  [calls]
  /// Cost: O(stamps + waits); 8 bytes per step, cause and rank.
  SharedSteps(const communication::Record& record, const Segments& segments, const communication::Waits& waits,
              const std::vector<std::uint32_t>& location_of);

  /// Whether all threads have the same number of segments; if not, there are no steps.
  bool exist() const { return steps_ > 0; }

  /// Chooses an earlier step in which every thread did the same for each step, or the step itself.  The waiting of a
  /// represented step is taken to be `gain` times that of its representative.  The resulting errors are fed back, as
  /// errors of stamps are in Representatives: their sums so far stay within `allowed_ns`.  Of all candidates, the one
  /// that leaves the smallest sums, relative to what is allowed, is taken.
  /// @param allowed_ns, gain  [causes][ranks], above 0
  /// @return [segments] the segment that represents each
  /// Cost: O(steps x kept steps x causes x ranks).
  std::vector<std::uint32_t> representatives(std::span<const double> allowed_ns, std::span<const double> gain) const;

 private:
  std::span<const double> waits_of(std::uint32_t step) const {
    return std::span(waits_).subspan(step * entries_, entries_);
  }

  std::size_t steps_ = 0, locations_ = 0, entries_ = 0;
  std::vector<std::uint64_t> structure_;  ///< [steps]
  std::vector<double> waits_;             ///< [steps][causes][ranks] ns
};

}  // namespace effort::reduction
