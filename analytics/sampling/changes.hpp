// How much loads change between the window that a sample is planned from and those that it is drawn for.
#pragma once

#include "analytics/sampling/planned_sample.hpp"

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace effort::sampling {

/// Learns from past windows how far a sample that is drawn in advance must exceed its plan to keep its promise.  A plan
/// knows the loads of one window.  In later ones, ranks of a stratum have become less alike, and a rank stands out that
/// did not before.  Both are measured at the end of each window, when the loads of all ranks are known.  The sample is
/// made so large that, averaged over the changes seen, the estimate is within the bound with the promised confidence.
/// Windows whose sample was too small make the next ones larger (adaptive conformal inference, Gibbs & Candes 2021,
/// equation 2).  Of several ranks that each have a large share of the load, only one is accounted for; estimates are
/// then less often within the bound than promised.  The same on all nodes for the same arguments.
class Changes {
 public:
  /// A sample is planned from these values for windows to come.  From start() on, their changes are counted from here.
  void count_from(const PlannedSample& sample, const Target& target);
  /// The next of those samples is used for the first time, in the window to be added next.
  void start();
  /// Measures by how much a later window differs, and the confidence that the sample drawn for it had.  Time O(n).
  void add(const PlannedSample& drawn, const Target& target);
  /// The same if each rank was drawn independently; with probability 0, no sample had been decided.
  void add(double probability, const Target& target);
  /// The number of windows added.
  std::size_t size() const { return seen_.size(); }

  /// Makes a planned sample large enough.  Time O(n), and O(parts x changes seen) for each of some dozens of sizes.
  void allow_for(PlannedSample& sample, const Target& target) const;
  /// Raises the probability with which each rank is drawn independently.  The number of ranks drawn then varies, too.
  /// Time O(n), and O(min(n, 64) x changes seen) for each of some dozens of probabilities.
  double allow_for(double probability, const Target& target) const;

 private:
  /// A distribution within parts.
  struct Spread {
    double variance = 0;  ///< mean over all ranks, in squared means, without the rank that stands out most
    double odd = 0;       ///< by how much this rank exceeds the others of its part, as a share of the sum of all ranks
  };
  struct Parts;
  static std::vector<double> deviations(const PlannedSample& sample, std::span<const double> values);
  static Parts parts_of(const PlannedSample& sample, std::span<const double> away);
  static double confidence(const PlannedSample& sample, const Parts& now, std::span<const Spread> changes,
                           double error);
  static double confidence(double probability, const Parts& now, std::span<const Spread> changes, double error);
  std::vector<Spread> expected() const;
  void add_spread(const Target& target);
  static double margin(const Target& target);
  void add_confidence(double reached, const Target& target);
  double goal(const Target& target) const;

  /// What changes are counted from.
  struct Origin {
    PlannedSample sample;       ///< by its parts; empty: nothing yet
    std::vector<double> known;  ///< [n] deviations
    Spread spread;
  };

  static constexpr std::size_t memory_ = 64;  ///< windows
  Origin origin_;
  std::deque<Origin> next_;  ///< of windows to come
  std::deque<Spread> seen_;  ///< increases since the origin
  double missed_ = 0;        ///< confidence that samples lacked and later ones have not made up for
};

}  // namespace effort::sampling
