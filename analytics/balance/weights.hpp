// Input for partitioners: a weight per item, integer costs, a factor per rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace effort::balance {

/// Seconds that each item (block, cell, particle) costs: sum over units of cost x amount.  Negative costs (not
/// identifiable) count as 0.  If no cost is known, every item weighs 1.
/// @param amount     [items][units] units of work of each item, finite, >= 0
/// @param unit_cost  [units] seconds per unit
/// @throws std::invalid_argument when the lengths don't match or an amount is negative or not finite
/// Time O(items x units).
std::vector<double> item_weights(std::span<const double> amount, std::span<const double> unit_cost);

/// Distributes a rank's load over its items in proportion to the estimates, for codes that know the relative but not
/// the present absolute cost of their items.
/// @param estimate  [items] finite, >= 0; all zero: equal parts
/// @param load      load of the rank that holds the items, seconds, finite, >= 0
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

/// Factor by which to multiply the weights of each rank's items: load / mean load, at least 0.05, scaled to a mean
/// of 1.  For codes with one weight per rank.
/// @param load  [ranks] seconds, finite, >= 0; all zero: factors of 1
/// @throws std::invalid_argument on loads out of range
std::vector<double> rank_factors(std::span<const double> load);

}  // namespace effort::balance
