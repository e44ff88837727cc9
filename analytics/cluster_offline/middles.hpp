// Central members of a stratum: candidates for its medoid.
#pragma once

#include "analytics/cluster/kmedoids.hpp"

#include <cstdint>
#include <vector>

namespace effort::cluster {

/// Members with a small estimated mean distance to the others.  Half of them are those with the smallest estimates;
/// half are spread over the better ones, since the smallest estimates differ by little more than noise.  Returns all
/// members if there are at most `count`.
/// @param members  ids of objects, ascending
/// @param count number requested, at least 2
/// @param stream   random stream of `seed` that selects the members with which the others are compared
/// Time: O(members d); an eighth of the members is compared with 96 others.
template <typename T>
std::vector<std::int32_t> middle_members(const Kernels& kernels, const RowsOf<T>& objects,
                                         std::vector<std::int32_t> members, std::size_t count, std::uint64_t seed,
                                         std::uint64_t stream);

}  // namespace effort::cluster
