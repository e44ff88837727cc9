// Matches the phases of one run with those of another.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace effort::communication {

/// The shares of a phase's components; they add up to 1, or are all 0.
using Shares = std::vector<double>;

/// The similarity of two phases, 0 to 1: the sum of the smaller shares.  Both arrays have the same length.
double similarity(const Shares& a, const Shares& b);

/// A phase of each run, or of one of them alone.
struct AlignedPhases {
  static constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();

  std::size_t a = nothing, b = nothing;  ///< index of the phase
  double similarity = 0;
};

/// Aligns the phases of two runs in their order, so that the sum of the similarities is as large as it can be
/// (Needleman & Wunsch 1970, without a penalty for gaps).  Phases with a similarity below one half are never matched.
/// @return all phases of both runs, in order
/// Cost: O(|a| |b|) comparisons, and one double of memory for each.
std::vector<AlignedPhases> align_phases(std::span<const Shares> a, std::span<const Shares> b);

}  // namespace effort::communication
