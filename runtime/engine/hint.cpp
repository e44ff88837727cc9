#include "runtime/engine/hint.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace effort::engine {

using measure::Definition;

void publish_hint(const window::Result& r, const Look& look, const node::SampleContent& sample, const RunNames& names,
                  Communicator& nodes, node::Segment& segment) {
  std::vector<std::string> region_names, unit_names;
  for (const auto& item : names.of(Definition::region)) region_names.push_back(item.name);
  // Costs are given for all units or, if some could not be fitted, for none.
  const auto& units = names.of(Definition::unit);
  if (std::all_of(r.unit_cost.begin(), r.unit_cost.end(), [](double cost) { return cost >= 0; }))
    for (std::size_t u = 0; u < std::min(units.size(), r.unit_cost.size()); ++u) unit_names.push_back(units[u].name);

  node::HintContent hint;
  hint.numbers.look = look.number;
  hint.numbers.now = look.now;
  hint.numbers.next = look.next;
  hint.numbers.n_regions = r.n_regions;
  hint.numbers.n_units = static_cast<std::int32_t>(unit_names.size());
  hint.numbers.report = static_cast<const window::Report&>(r);
  window::each_hint_array([](window::Extent, auto& array, const auto& values) { array = values; }, hint, r);
  // Without work units, all ranks are taken as equally fast.
  const std::vector<double> equal(r.speed.empty() ? r.load.size() : 0, 1.0);
  if (r.speed.empty()) hint.speed = equal;
  hint.region_names = region_names;
  hint.unit_names = unit_names;
  hint.sample = sample;
  // This exchange confirms that every node has the complete hint.  A node that fails before it prevents the hint on all
  // nodes; one that fails after it, on none.
  nodes.allreduce(std::span<std::int64_t>(), ReduceOp::max);
  segment.board().publish(hint);
  segment.header().news.notify();
}

}  // namespace effort::engine
