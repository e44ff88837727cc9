// Objects in the middle of a stratum: candidates for its medoid.
#pragma once

#include "analytics/cluster/kmedoids.hpp"

#include <cstdint>
#include <vector>

namespace effort::cluster {

/// Members with a small mean distance to the others, by estimates: half of them the best, half spread over the better
/// ones, as estimates near the best differ by little but noise.  All members where these are not more.
/// @param members  ids of objects, ascending
/// @param count    how many are wanted, at least 2
/// @param stream   stream of random numbers of `seed`: which members the others are compared with
/// Time: O(members d), with a small part of the members compared with 96.
template <typename T>
std::vector<std::int32_t> middle_members(const Kernels& kernels, const RowsOf<T>& objects,
                                         std::vector<std::int32_t> members, std::size_t count, std::uint64_t seed,
                                         std::uint64_t stream);

}  // namespace effort::cluster
