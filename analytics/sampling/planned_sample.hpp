// How many ranks are drawn from each part of a run, and the draw itself.
#pragma once

#include "analytics/sampling/sample_size.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::sampling {

/// A quantity whose mean over all ranks the sample is to estimate.
struct Target {
  std::span<const double> values;  ///< [n] finite, not negative
  Accuracy accuracy;
};

/// Ranks with a sampling rule of their own (Gamblin 2009, figure 4.5).
struct Group {
  std::vector<std::int32_t> members;  ///< ascending; no rank is in two groups.  Others than 0..n-1 are ignored
  std::vector<std::int32_t> pinned;   ///< members that are always drawn, ascending
  Accuracy accuracy;                  ///< of the group's mean of the first target
  std::int64_t size = 0;              ///< > 0: this many, including the pinned ones, regardless of accuracy
};

/// A sample by parts, which are strata, or groups, or all ranks as one.
struct PlannedSample {
  std::vector<std::int32_t> part;        ///< [n] 0..parts-1; empty: all ranks are one part
  std::vector<std::int64_t> population;  ///< [parts] ranks
  std::vector<std::int64_t> size;        ///< [parts] ranks to draw

  std::size_t part_of(std::size_t rank) const { return part.empty() ? 0 : static_cast<std::size_t>(part[rank]); }
  std::int64_t total() const;
  /// Probability that a rank is drawn.
  double probability(std::size_t rank) const;
};

/// Without groups: as few ranks as keep all accuracies, by stratum if that needs fewer (Gamblin 2009, section 4.2;
/// Cochran 1977, chapter 5).  With groups: each is drawn by itself, from those that are not pinned; the ranks that are
/// in no group form another one, with the first target's accuracy.  The additional ranks that other targets need are
/// added where they help most.
/// @param targets  at least one; a target that is zero everywhere needs no ranks
/// @param stratum  [n] 0..strata-1, n at least 1
/// @param whole  ascending; fewer than n ranks that are all in the sample, as its last part; none with groups
/// @throws std::invalid_argument as plan_samples()
/// Time O(n targets).
PlannedSample plan_sample(std::span<const Target> targets, std::span<const std::int32_t> stratum, int strata,
                          std::span<const Group> groups, std::span<const std::int32_t> whole = {});

/// Makes the sample smaller until it has at most `affordable` ranks: every part in proportion, but none below two; if
/// even that is too many, nothing is drawn, because a few of the parts say nothing about the mean.
void shrink(PlannedSample& sample, std::int64_t affordable);

/// The ranks of one window's draw, ascending.  Depends on its arguments alone, so every node draws the same.
std::vector<std::int32_t> draw(const PlannedSample& sample, std::size_t n, std::uint64_t window);

/// The probability with which every rank is drawn independently, such that the accuracies are kept on average (AMPL's
/// global update).  Strata do not help here, because nothing ensures that each gets its share of the sample.
/// @throws std::invalid_argument as plan_samples()
/// Time O(n targets).
double independent_probability(std::span<const Target> targets, std::size_t n, std::span<const Group> groups);

/// Whether a rank is drawn in a window in which every rank is drawn with this probability, independently (AMPL's global
/// update, Gamblin 2009, section 4.3.2).  Needs no information about other ranks.
bool is_drawn_independently(std::int32_t rank, double probability, std::uint64_t window);

/// Accuracy of a mean that is estimated from a sample.
struct Reached {
  double error = -1;       ///< relative, at the requested confidence; -1: the sample says nothing
  double confidence = -1;  ///< at the requested error
};
/// From all ranks' values: Cochran 1977, equation 5.7.  Time O(n).
Reached reached(const PlannedSample& sample, const Target& target);

}  // namespace effort::sampling
