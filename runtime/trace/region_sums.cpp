#include "runtime/trace/region_sums.hpp"

#include <algorithm>
#include <cmath>

namespace effort::engine {

using measure::Definition;

std::vector<std::int64_t> region_sums(const WindowBlock& block, std::int64_t first, std::int64_t last,
                                      const NameUnion& names) {
  const std::size_t regions = names.run().of(Definition::region).size();
  std::vector<double> sums(2 * regions);
  const auto steps = static_cast<std::size_t>(block.steps), begin = static_cast<std::size_t>(first - block.first_step),
             end = static_cast<std::size_t>(last - block.first_step + 1);
  for (const auto& [key, values] : block.series) {
    const RunSeries series = names.global(key);
    if (names.run().at(Definition::metric, series.metric).name != "time") continue;
    double& sum = sums[position(series.region)];
    for (std::size_t row = 0; row < values.size(); row += steps)
      for (std::size_t s = begin; s < end; ++s) sum += 1e9 * values[row + s];
  }
  for (const auto& [region, calls] : block.calls) {
    double& sum = sums[regions + position(names.global(Definition::region, region))];
    for (std::size_t s = begin; s < end; ++s) sum += calls[s];
  }
  std::vector<std::int64_t> out;
  // A correction of sampled times may make a sum slightly negative.
  for (const double sum : sums) out.push_back(std::llround(std::max(0.0, sum)));
  return out;
}

}  // namespace effort::engine
