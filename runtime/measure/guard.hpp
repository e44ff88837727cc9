// Keeps the cost of measuring below a share of the computing time by sampling the calls of some regions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace effort::measure {

/// What a begin/end pair costs, in seconds.
struct PairCost {
  double timed;    ///< clock, and counters read at boundaries
  double skipped;  ///< counted only
};

/// Decides for one rank from its counts.  A plain value without clock or threads.
class Guard {
 public:
  static constexpr std::uint32_t longest_period = 4096;
  /// Each region keeps at least this many timed calls between two looks.
  static constexpr std::int64_t least_timed = 64;

  /// @param limit  share of the computing time, above 0
  explicit Guard(double limit) : limit_(limit) {}

  /// Evaluates an interval of the run.
  /// @param begins     [regions] by id: calls in it that may be sampled, of the thread that made most
  /// @param fixed      seconds that measuring cost otherwise
  /// @param computing  seconds that the host computed in it, above 0
  /// @return whether periods() has changed.  O(regions + steps of coarsening).
  bool look(std::span<const std::int64_t> begins, double fixed, double computing, const PairCost& cost);

  /// By region id: one of this many calls is timed.  Regions beyond the end are always timed.
  std::span<const std::uint32_t> periods() const { return periods_; }
  /// Measuring's share of the computing time in the last interval, with the periods then in force.
  double share() const { return share_; }
  /// Whether the coarsest sampling still exceeds the limit.
  bool exhausted() const { return exhausted_; }

  /// The cost of measuring these calls with the periods in force.
  double seconds(std::span<const std::int64_t> begins, const PairCost& cost) const;

 private:
  bool coarsen(std::span<const std::int64_t> begins, double fixed, double budget, const PairCost& cost);
  bool refine(std::span<const std::int64_t> begins, double fixed, double budget, const PairCost& cost);

  const double limit_;
  std::vector<std::uint32_t> periods_;
  double share_ = 0;
  int quiet_ = 0;  ///< looks in a row that found far less than the limit
  bool exhausted_ = false;
};

}  // namespace effort::measure
