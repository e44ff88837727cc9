// Representative steps that are the same on all ranks, which preserves how ranks wait for each other within a step.
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
  /// Cost: O(stamps + waits); 8 bytes per step and entry.
  SharedSteps(const communication::Record& record, const Segments& segments, const communication::Waits& waits,
              const std::vector<std::uint32_t>& location_of);

  /// Whether all threads have the same number of segments; if not, there are no steps.
  bool exist() const { return steps_ > 0; }
  /// A cause and a rank that waited for it.
  struct Entry {
    std::size_t cause = 0, rank = 0;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  /// The most comparisons of numbers that representatives() takes.
  double cost() const;

  /// Chooses an earlier step in which every thread did the same for each step, or the step itself.  The waiting of a
  /// represented step is taken to be `gain` times that of its representative.  The resulting errors are fed back, as
  /// errors of stamps are in Representatives: their sums so far stay within `allowed_ns`.  Of the last 256 candidates,
  /// the one that leaves the smallest sums, relative to what is allowed, is taken.
  /// @param allowed_ns, gain  [entries], above 0
  /// @return [segments] the segment that represents each
  /// Cost: O(steps x candidates x entries), see cost(); usually far less, as most candidates differ at once.
  std::vector<std::uint32_t> representatives(std::span<const double> allowed_ns, std::span<const double> gain) const;

 private:
  std::span<const double> waits_of(std::uint32_t step) const {
    return std::span(waits_).subspan(step * entries_.size(), entries_.size());
  }

  std::size_t steps_ = 0, locations_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> structure_;  ///< [steps]
  std::vector<double> waits_;             ///< [steps][entries] ns
};

}  // namespace effort::reduction
