// Reproducible draws, the same on every node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace effort::sampling {

/// A hash of three numbers, uniform over 64 bits: the random number of (seed, stream, counter).
std::uint64_t keyed_random(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter);

/// `count` different numbers of 0..population-1, each set equally likely, ascending (Floyd's method, Bentley & Floyd
/// 1987).  Depends on seed and stream alone, so every node draws the same.  Time O(count log count).
/// @throws std::invalid_argument unless 0 <= count <= population
std::vector<std::int32_t> draw_without_replacement(std::int64_t population, std::int64_t count, std::uint64_t seed,
                                                   std::uint64_t stream);

/// Draws by an allocation over strata (SamplePlan::allocation); an allocation of one entry draws from all.
/// @param labels  [n] strata
/// @param pinned  ranks that are always included, in addition to those drawn
std::vector<std::int32_t> draw_by_stratum(std::span<const std::int32_t> labels,
                                          std::span<const std::int64_t> allocation,
                                          std::span<const std::int32_t> pinned, std::uint64_t seed,
                                          std::uint64_t window);

}  // namespace effort::sampling
