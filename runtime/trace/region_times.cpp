#include "runtime/trace/region_times.hpp"

#include <algorithm>
#include <cmath>

namespace effort::engine {

using measure::Definition;

std::vector<std::int64_t> region_times(const WindowBlock& block, std::int64_t first, std::int64_t last,
                                       const NameUnion& names) {
  std::vector<double> seconds(names.run().of(Definition::region).size());
  const auto steps = static_cast<std::size_t>(block.steps), begin = static_cast<std::size_t>(first - block.first_step),
             end = static_cast<std::size_t>(last - block.first_step + 1);
  for (const auto& [key, values] : block.series) {
    const RunSeries series = names.global(key);
    if (names.run().at(Definition::metric, series.metric).name != "time") continue;
    double& sum = seconds[position(series.region)];
    for (std::size_t row = 0; row < values.size(); row += steps)
      for (std::size_t s = begin; s < end; ++s) sum += values[row + s];
  }
  std::vector<std::int64_t> out;
  // A correction of sampled times may make a sum slightly negative.
  for (const double sum : seconds) out.push_back(std::llround(std::max(0.0, 1e9 * sum)));
  return out;
}

}  // namespace effort::engine
