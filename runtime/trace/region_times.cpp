#include "runtime/trace/region_times.hpp"

#include <cmath>
#include <map>

namespace effort::engine {

using measure::Definition;

std::vector<record::trace::Window::RegionTime> region_times(const WindowBlock& block, std::int64_t first,
                                                            std::int64_t last, const NameUnion& names) {
  std::map<RunId, double> seconds;
  const auto steps = static_cast<std::size_t>(block.steps), begin = static_cast<std::size_t>(first - block.first_step),
             end = static_cast<std::size_t>(last - block.first_step + 1);
  for (const auto& [key, values] : block.series) {
    const RunSeries series = names.global(key);
    if (names.run().at(Definition::metric, series.metric).name != "time") continue;
    double& sum = seconds[series.region];
    for (std::size_t row = 0; row < values.size(); row += steps)
      for (std::size_t s = begin; s < end; ++s) sum += values[row + s];
  }
  std::vector<record::trace::Window::RegionTime> out;
  for (const auto& [region, sum] : seconds)
    if (sum >= 1e-9) out.push_back({static_cast<std::uint32_t>(region), std::llround(1e9 * sum)});
  return out;
}

}  // namespace effort::engine
