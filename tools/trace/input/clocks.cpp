#include "tools/trace/input/clocks.hpp"

#include <algorithm>
#include <cmath>

namespace effort::tools {

void NodeClocks::add(const record::trace::Clock& sample) {
  std::vector<Sample>& samples = samples_[sample.node];
  const Sample fresh{sample.time_ns, sample.offset_ns};
  const auto at = std::upper_bound(samples.begin(), samples.end(), fresh,
                                   [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; });
  samples.insert(at, fresh);
  bound_ns_ = std::max(bound_ns_, sample.bound_ns);
}

std::int64_t NodeClocks::on_node_0(std::int32_t node, std::int64_t time_ns) const {
  const auto found = samples_.find(node);
  if (found == samples_.end()) return time_ns;
  const std::vector<Sample>& samples = found->second;
  const auto after = std::upper_bound(samples.begin(), samples.end(), time_ns,
                                      [](std::int64_t time, const Sample& sample) { return time < sample.time_ns; });
  if (after == samples.begin()) return time_ns + after->offset_ns;
  const Sample& a = *(after - 1);
  if (after == samples.end() || after->time_ns == a.time_ns) return time_ns + a.offset_ns;
  const double share = static_cast<double>(time_ns - a.time_ns) / static_cast<double>(after->time_ns - a.time_ns);
  return time_ns + a.offset_ns +
         static_cast<std::int64_t>(std::llround(share * static_cast<double>(after->offset_ns - a.offset_ns)));
}

}  // namespace effort::tools
