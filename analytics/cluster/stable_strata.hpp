// Strata keep their identity from one window to the next.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// New numbers for the strata of a window, such that a stratum that shares most of its members with one of the window
/// before keeps that one's number.
struct StrataMatch {
  std::vector<std::int32_t> renamed;   ///< [k_now] the number each stratum of now gets: a permutation of 0..k_now-1
  std::vector<std::int32_t> previous;  ///< [k_now] by new number: the stratum of before it continues, or -1
  double agreement = 0;                ///< share of objects that stay in the stratum they were in
};

/// Matches by largest overlap over all pairs (the assignment problem, solved exactly for up to 64 strata, else
/// greedily); ties go to the lower numbers.
/// @param before  [n] labels 0..k_before-1 of the window before; may be empty (the first window): nothing is renamed
/// @param now     [n] labels 0..k_now-1
/// @throws std::invalid_argument when lengths differ or a label is out of range
/// Time: O(n + k^3).  The numbers of strata that continue nothing fill the gaps in ascending order.
StrataMatch match_strata(std::span<const std::int32_t> before, int k_before, std::span<const std::int32_t> now,
                         int k_now);

/// The same from counts: overlap[i * k_now + j] objects of stratum i before are in stratum j now (the sum over nodes,
/// where labels are spread).
StrataMatch match_strata(std::span<const std::int64_t> overlap, int k_before, int k_now);

}  // namespace effort::cluster
