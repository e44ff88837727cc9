// The time that all ranks of a node spent in each region in a window.
#pragma once

#include "record/trace/contents.hpp"
#include "runtime/collect/collector.hpp"
#include "runtime/collect/names.hpp"

#include <cstdint>
#include <vector>

namespace effort::engine {

/// Sums of the metric `time`, in all phases, over the steps [first, last] of the block; ascending by region, without
/// regions in which no time was spent.  All names of the block must be shared.
/// Time: linear in the block's series, ranks and steps.
std::vector<record::trace::Window::RegionTime> region_times(const WindowBlock& block, std::int64_t first,
                                                            std::int64_t last, const NameUnion& names);

}  // namespace effort::engine
