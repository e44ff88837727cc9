// What partitioners are fed with: a weight per item, integer costs, a factor per rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace effort::balance {

/// Seconds that each item (block, cell, particle) costs: sum over units of cost x amount.  Costs < 0 (that could not be
/// told apart) count as 0; where no cost is known, every item weighs 1.
/// @param amount     [items][units] units of work of each item, finite, >= 0
/// @param unit_cost  [units] seconds per unit
/// @throws std::invalid_argument when the lengths don't match or an amount is negative or not finite
/// Time O(items x units).
std::vector<double> item_weights(std::span<const double> amount, std::span<const double> unit_cost);

/// Each item's part of its rank's load, in proportion to the estimates: for codes that know how their items compare but
/// not what they cost today.
/// @param estimate  [items] finite, >= 0; all zero: equal parts
/// @param load      seconds of the rank that has them, finite, >= 0
/// @throws std::invalid_argument on numbers out of range
std::vector<double> shared_load(std::span<const double> estimate, double load);

/// Integers in proportion to the weights that add up to `sum` exactly (largest remainder; ties to the lower index).
/// For partitioners with integer costs (p4est, ParMETIS, PT-Scotch).
/// @param weight   finite, >= 0; all zero: taken as equal
/// @param sum      >= least x items
/// @param least    every item gets at least this, >= 0
/// @throws std::invalid_argument on weights or a sum out of range
/// Time O(n log n).
std::vector<std::int64_t> integer_costs(std::span<const double> weight, std::int64_t sum, std::int64_t least = 0);

/// Factor by which each rank's items should count more than the mean rank's for the same work: load / mean load,
/// floored at 5 % of the mean and multiplied so that the mean is 1.  For codes that know one weight per rank only.
/// @param load  [ranks] seconds, finite, >= 0; all zero: factors of 1
/// @throws std::invalid_argument on loads out of range
std::vector<double> rank_factors(std::span<const double> load);

}  // namespace effort::balance
