// What the ranks of a node did in each region in a window.
#pragma once

#include "runtime/collect/collector.hpp"
#include "runtime/collect/names.hpp"

#include <cstdint>
#include <vector>

namespace effort::engine {

/// Sums of the metric `time`, in all phases, and of calls, over the steps [first, last] of the block.  All names of the
/// block must be shared.
/// @return [2][regions of the run] ns, and calls that began; at least 0
/// Time: linear in the block's series, ranks and steps.
std::vector<std::int64_t> region_sums(const WindowBlock& block, std::int64_t first, std::int64_t last,
                                      const NameUnion& names);

}  // namespace effort::engine
