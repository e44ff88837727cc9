// The overhead guard keeps the cost of measuring below a share of the computing time.  It decides which regions are
// timed at every call and which are sampled.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace effort::measure {

/// Cost of a begin/end pair, in seconds.
struct PairCost {
  double timed;    ///< clock, and counters read at boundaries
  double skipped;  ///< counted only
};

/// Cost of `begins` calls of which one in `period` is timed, in seconds.
inline double pair_seconds(std::int64_t begins, std::uint32_t period, const PairCost& cost) {
  const auto n = static_cast<double>(begins);
  return period <= 1 ? n * cost.timed : n * (cost.skipped + (cost.timed - cost.skipped) / period);
}

/// Decides for one rank, based on its counts.  A plain value without clock or threads.
class Guard {
 public:
  static constexpr std::uint32_t longest_period = 4096;
  /// Minimum number of timed calls that a region keeps between two looks.
  static constexpr std::int64_t least_timed = 64;

  /// @param limit  share of the computing time, above 0
  explicit Guard(double limit) : limit_(limit) {}

  /// Examines an interval of the run.
  /// @param begins     [regions] by id: calls in the interval that may be sampled, in the thread that made most of them
  /// @param fixed      seconds of measuring cost that sampling does not affect
  /// @param computing  seconds that the host computed in it, above 0
  /// @return whether periods() has changed.  O(regions + steps of coarsening).
  bool look(std::span<const std::int64_t> begins, double fixed, double computing, const PairCost& cost);

  /// Sampling period by region id: one of this many calls is timed.  Regions beyond the end are always timed.
  std::span<const std::uint32_t> periods() const { return periods_; }
  /// Measuring cost as a share of the computing time in the last interval, at the periods then in force.
  double share() const { return share_; }
  /// Whether sampling is as coarse as it may be and the cost still exceeds the limit.
  bool exhausted() const { return exhausted_; }

  /// Cost of measuring these calls at the periods in force.
  double seconds(std::span<const std::int64_t> begins, const PairCost& cost) const;

 private:
  bool coarsen(std::span<const std::int64_t> begins, double fixed, double budget, const PairCost& cost);
  bool refine(std::span<const std::int64_t> begins, double fixed, double budget, const PairCost& cost);

  const double limit_;
  std::vector<std::uint32_t> periods_;
  double share_ = 0;
  int quiet_looks_ = 0;  ///< consecutive looks that found a cost far below the limit
  bool exhausted_ = false;
};

}  // namespace effort::measure
