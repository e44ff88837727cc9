#include "tools/communication/snapshot_traffic.hpp"

#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>

namespace effort::tools {

SnapshotTraffic snapshot_traffic(record::Reader& reader) {
  const record::Run& run = reader.run();
  SnapshotTraffic out;
  out.n_ranks = static_cast<std::int32_t>(run.ranks);
  for (const record::NodeRun& part : run.placement)
    out.node_of.insert(out.node_of.end(), static_cast<std::size_t>(part.count), part.node);
  std::map<std::string, std::size_t> region_at;
  std::map<std::tuple<std::int32_t, std::int32_t, std::size_t>, SnapshotFlow> flows;
  for (std::int32_t node = 0; node < run.nodes; ++node) {
    const record::Traffic traffic = reader.traffic(node);
    for (const record::Flow& f : traffic.flows) {
      const std::string& name = traffic.regions.at(static_cast<std::size_t>(f.region));
      const auto [at, fresh] = region_at.emplace(name, out.regions.size());
      if (fresh) out.regions.push_back(name);
      SnapshotFlow& sum = flows
                              .try_emplace({f.source, f.destination, at->second},
                                           SnapshotFlow{f.source, f.destination, at->second, 0, 0, 0, {}})
                              .first->second;
      sum.messages += f.messages;
      sum.bytes += f.bytes;
      sum.seconds += f.seconds;
      if (f.size_class >= 0)
        communication::add_size(sum.sizes, f.size_class, static_cast<std::uint64_t>(std::llround(f.messages)));
    }
  }
  for (const auto& [key, flow] : flows) out.flows.push_back(flow);
  return out;
}

void require_flows(const SnapshotTraffic& traffic, const record::Reader& reader, const std::string& analysis,
                   const std::string& or_else) {
  if (traffic.flows.empty())
    throw std::runtime_error("'" + reader.name() + "' holds no communication matrix, which " + analysis +
                             " needs: run the program with EFFORT_COMM_MATRIX=1 and libeffort_pmpi" + or_else);
}

}  // namespace effort::tools
