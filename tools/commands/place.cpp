// effort place SNAP [--topology FILE] [--hosts FILE] [--format rankfile|mpich|slurm] -o OUT
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analytics/placement/placement.hpp"
#include "record/reader.hpp"
#include "tools/commands/commands.hpp"
#include "tools/communication/snapshot_traffic.hpp"
#include "tools/files/output_file.hpp"
#include "tools/output/output.hpp"
#include "tools/place/rank_order.hpp"
#include "tools/place/switches.hpp"

namespace effort::tools {
namespace {

placement::TrafficGraph graph_of(const SnapshotTraffic& traffic) {
  std::vector<placement::Exchange> exchanges;
  exchanges.reserve(traffic.flows.size());
  for (const SnapshotFlow& flow : traffic.flows) exchanges.push_back({flow.a, flow.b, flow.bytes});
  return {traffic.n_ranks, exchanges};
}

std::string order_text(const PlaceArguments& a, const placement::Placement& placed,
                       const std::vector<std::string>& hosts, std::int32_t nodes) {
  if (a.format == "mpich") return mpich_text(placed.node_of, nodes);
  if (a.format == "slurm") return slurm_text(placed.node_of, hosts);
  return rankfile_text(placed.node_of, hosts);
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

void print_text(const PlaceArguments& a, const placement::TrafficGraph& graph, const placement::Placement& placed,
                std::int32_t nodes, std::int64_t moved) {
  std::printf("%s of the %s that ranks exchanged left their node (%d ranks on %d nodes).\n",
              percent_text(share(placed.before.off_node, graph.bytes())).c_str(), bytes_text(graph.bytes()).c_str(),
              graph.ranks(), nodes);
  if (moved == 0) {
    std::printf("No better order of ranks was found; '%s' has the present one.\n", a.out.c_str());
    return;
  }
  std::printf("In the order of '%s' it is %s: %s instead of %s", a.out.c_str(),
              percent_text(share(placed.after.off_node, graph.bytes())).c_str(),
              bytes_text(placed.after.off_node).c_str(), bytes_text(placed.before.off_node).c_str());
  std::printf(", and bytes times links fall to %s.\n",
              percent_text(share(placed.after.link_bytes, placed.before.link_bytes)).c_str());
  const char* how = "mpirun --rankfile %s";
  if (a.format == "mpich") how = "MPICH_RANK_REORDER_METHOD=3, with %s as MPICH_RANK_ORDER in the working directory";
  if (a.format == "slurm") how = "SLURM_HOSTFILE=%s srun --distribution=arbitrary";
  std::string use = how;
  use.replace(use.find("%s"), 2, a.out);
  std::printf("Use: %s\n", use.c_str());
}

}  // namespace

void run_place(const PlaceArguments& a) {
  if (a.format == "slurm" && a.hosts.empty())
    throw UsageError("--format slurm needs the names of the nodes, give --hosts FILE with one per line");
  std::vector<std::filesystem::path> inputs{a.snapshot};
  for (const std::string& input : {a.topology, a.hosts})
    if (!input.empty()) inputs.emplace_back(input);
  const Destination out(a.out, inputs);
  record::Reader reader{std::filesystem::path(a.snapshot)};
  reader.verify();
  const std::int32_t nodes = reader.run().nodes;
  const SnapshotTraffic traffic = snapshot_traffic(reader);
  require_flows(traffic, reader, "effort place");
  const std::vector<std::string> hosts = a.hosts.empty() ? std::vector<std::string>() : read_hosts(a.hosts, nodes);
  const placement::Network network = a.topology.empty()
                                         ? placement::Network::flat(nodes)
                                         : network_of(read_switches(a.topology), hosts, nodes, a.topology);
  const placement::TrafficGraph graph = graph_of(traffic);
  const placement::Placement placed = placement::place(graph, network, traffic.node_of);

  OutputFile file(out);
  file.write(order_text(a, placed, hosts, nodes));
  file.commit();
  std::int64_t moved = 0;
  for (std::size_t rank = 0; rank < placed.node_of.size(); ++rank)
    if (placed.node_of[rank] != traffic.node_of[rank]) ++moved;
  if (!a.json) return print_text(a, graph, placed, nodes, moved);
  print_json({{"ranks", graph.ranks()},
              {"nodes", nodes},
              {"moved", moved},
              {"bytes", graph.bytes()},
              {"off_node_before", placed.before.off_node},
              {"off_node", placed.after.off_node},
              {"link_bytes_before", placed.before.link_bytes},
              {"link_bytes", placed.after.link_bytes}});
}

}  // namespace effort::tools
