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

  // Units whose cost could not be fitted are left out.
  std::vector<double> cost, error;
  const auto& units = names.of(Definition::unit);
  const bool all_known =
      !r.unit_cost.empty() && std::all_of(r.unit_cost.begin(), r.unit_cost.end(), [](double c) { return c >= 0; });
  if (all_known)
    for (std::size_t u = 0; u < units.size() && u < r.unit_cost.size(); ++u) {
      unit_names.push_back(units[u].name);
      cost.push_back(r.unit_cost[u]);
      error.push_back(r.unit_cost_error[u]);
    }

  const auto n_regions = static_cast<std::size_t>(r.n_regions);
  const auto n_local = static_cast<std::size_t>(segment.n_local());
  std::vector<double> region_load(n_regions * n_local);
  for (std::size_t g = 0; g < n_regions; ++g)
    for (std::size_t l = 0; l < n_local; ++l) region_load[l * n_regions + g] = r.local_region_load[g * n_local + l];

  std::vector<double> speed = r.speed;
  speed.resize(r.load.size(), 1.0);  // without work units, all ranks are taken as equally fast

  node::HintContent hint;
  hint.numbers.look = look.number;
  hint.numbers.now = look.now;
  hint.numbers.next = look.next;
  hint.numbers.n_regions = r.n_regions;
  hint.numbers.n_units = static_cast<std::int32_t>(cost.size());
  hint.numbers.report = static_cast<const window::Report&>(r);
  hint.load = r.load;
  hint.predicted = r.predicted;
  hint.speed = speed;
  hint.stratum = r.stratum;
  hint.delay = r.delay;
  hint.delay_region = r.delay_region;
  hint.medoid_rank = r.medoid_rank;
  hint.stratum_region_load = r.stratum_region_load;
  hint.stratum_stride = n_regions;
  hint.region_load = region_load;
  hint.region_names = region_names;
  hint.unit_names = unit_names;
  hint.sample = sample;
  hint.unit_cost = cost;
  hint.unit_cost_error = error;
  // Every node now has the complete hint.  A node that fails earlier prevents the hint on all nodes; one that fails
  // later, on none.
  nodes.allreduce(std::span<std::int64_t>(), ReduceOp::max);
  segment.board().publish(hint);
  segment.header().news.notify();
}

}  // namespace effort::engine
