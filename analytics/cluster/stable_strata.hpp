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
/// @param overlap  [k_before][k_now] objects of a stratum before that are in a stratum now, over all nodes; empty for
///                 the first window, which renames nothing
/// @throws std::invalid_argument if the length of `overlap` does not fit
/// Time: O(k^3).  Strata that continue none get the unused numbers in ascending order.
StrataMatch match_strata(std::span<const std::int64_t> overlap, int k_before, int k_now);

}  // namespace effort::cluster
