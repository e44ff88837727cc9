// Strata keep their identity from one window to the next.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// Renumbers the strata of a window: a stratum that shares most of its members with one of the previous window keeps
/// that number.
struct StrataMatch {
  std::vector<std::int32_t> renamed;   ///< [k_now] new number of each stratum: a permutation of 0..k_now-1
  std::vector<std::int32_t> previous;  ///< [k_now] by new number: the previous stratum that it continues, or -1
  double agreement = 0;                ///< share of objects that stay in their stratum
};

/// Matches by largest overlap over all pairs (the assignment problem, solved exactly for up to 64 strata, else
/// greedily); ties go to the lower numbers.
/// @param before  [n] labels 0..k_before-1 of the previous window; empty for the first window, which renames nothing
/// @param now     [n] labels 0..k_now-1
/// @throws std::invalid_argument when lengths differ or a label is out of range
/// Time: O(n + k^3).  Strata that continue none get the unused numbers in ascending order.
StrataMatch match_strata(std::span<const std::int32_t> before, int k_before, std::span<const std::int32_t> now,
                         int k_now);

/// The same from counts: overlap[i * k_now + j] objects of stratum i before are in stratum j now (the sum over nodes,
/// where labels are spread).
StrataMatch match_strata(std::span<const std::int64_t> overlap, int k_before, int k_now);

}  // namespace effort::cluster
