// Reproducible draws, the same on every node.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::sampling {

/// A hash of three numbers, uniform over 64 bits: the random number of (seed, stream, counter).
std::uint64_t keyed_random(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter);

/// `count` different numbers of 0..population-1, each set equally likely, ascending (Floyd's method, Bentley & Floyd
/// 1987).  Depends on seed and stream alone, so every node draws the same.  Time O(count log count).
/// @throws std::invalid_argument unless 0 <= count <= population
std::vector<std::int32_t> draw_without_replacement(std::int64_t population, std::int64_t count, std::uint64_t seed,
                                                   std::uint64_t stream);

/// A group of ranks with sampling parameters of its own.
struct Group {
  std::string name;
  std::vector<std::int32_t> ranks;  ///< ascending; groups must not overlap
  double confidence = 0.90;
  double error = 0.08;               ///< relative to the group's mean
  std::int64_t fixed_size = 0;       ///< > 0: this many ranks, regardless of the deviation
  std::vector<std::int32_t> pinned;  ///< always traced, in addition; members of the group
};

struct SampleSet {
  std::vector<std::int32_t> ranks;                  ///< all traced ranks, ascending
  std::vector<std::vector<std::int32_t>> by_group;  ///< [groups] ascending, including pinned ones
};

/// Draws each group's sample for one window: its fixed size, or the largest size that one of its metrics needs.
/// @param values  [n][d] one value per rank and metric
/// @throws std::invalid_argument on overlapping groups, ranks outside 0..n-1, pinned ranks outside their group, or an
///         accuracy outside its range
SampleSet draw_groups(std::span<const double> values, std::size_t n, std::size_t d, std::span<const Group> groups,
                      std::uint64_t seed, std::uint64_t window);

/// Draws by an allocation over strata (SamplePlan::allocation); an allocation of one entry draws from all.
/// @param labels  [n] strata
/// @param pinned  ranks that are always included, in addition to those drawn
std::vector<std::int32_t> draw_by_stratum(std::span<const std::int32_t> labels,
                                          std::span<const std::int64_t> allocation,
                                          std::span<const std::int32_t> pinned, std::uint64_t seed,
                                          std::uint64_t window);

}  // namespace effort::sampling
