// effort place SNAP [--topology FILE] [--hosts FILE] [--node SHAPE] [--format rankfile|mpich|slurm] -o OUT
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "analytics/placement/inside.hpp"
#include "analytics/placement/placement.hpp"
#include "record/reader.hpp"
#include "tools/commands/commands.hpp"
#include "tools/communication/snapshot_traffic.hpp"
#include "tools/files/output_file.hpp"
#include "tools/output/output.hpp"
#include "tools/place/node_file.hpp"
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

/// "2x4x8", or a file of hwloc.
std::optional<placement::NodeShape> shape_of(const PlaceArguments& a) {
  if (a.node.empty()) return std::nullopt;
  if (a.format == "slurm")
    throw UsageError("--format slurm cannot assign ranks to cores: omit '" + a.node + "', or choose another format");
  if (is_xml(a.node)) return read_node(a.node);
  std::vector<std::int32_t> levels;
  const char* at = a.node.data();
  for (const char* const end = at + a.node.size(); at <= end; ++at) {
    const auto [next, error] = std::from_chars(at, end, levels.emplace_back());
    if (error != std::errc() || (next != end && *next != 'x'))
      throw UsageError("--node cannot be '" + a.node + "': give the parts at each level, such as 2x4x8");
    at = next;
  }
  try {
    return placement::NodeShape(std::move(levels));
  } catch (const std::invalid_argument& e) {
    throw UsageError("--node cannot be '" + a.node + "': " + e.what());
  }
}

/// The cores of all ranks, and the bytes that leave their domains now and in this order.
struct Inside {
  std::vector<std::int32_t> core_of;
  double before = 0, after = 0;
};

Inside inside(const placement::TrafficGraph& graph, const std::optional<placement::NodeShape>& shape,
              const std::vector<std::int32_t>& now, const std::vector<std::int32_t>& placed) {
  if (!shape) return {placement::cores_in_order(placed), 0, 0};
  Inside out;
  try {
    out.core_of = placement::place_inside(graph, *shape, placed);
  } catch (const std::invalid_argument& e) {
    throw std::runtime_error("the shape of a node does not fit the run: " + std::string(e.what()));
  }
  out.before = placement::off_domain(graph, *shape, now, placement::cores_in_order(now));
  out.after = placement::off_domain(graph, *shape, placed, out.core_of);
  return out;
}

std::string order_text(const PlaceArguments& a, const placement::Placement& placed, const Inside& within,
                       const std::vector<std::string>& hosts, std::int32_t nodes) {
  if (a.format == "mpich") return mpich_text(placed.node_of, within.core_of, nodes);
  if (a.format == "slurm") return slurm_text(placed.node_of, hosts);
  return rankfile_text(placed.node_of, within.core_of, hosts);
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

void print_text(const PlaceArguments& a, const placement::TrafficGraph& graph, const placement::Placement& placed,
                std::int32_t nodes, std::int64_t moved, const Inside& within, bool inside, bool reordered) {
  std::printf("%s of the %s that ranks exchanged left their node (%d ranks on %d nodes).\n",
              percent_text(share(placed.before.off_node, graph.bytes())).c_str(), bytes_text(graph.bytes()).c_str(),
              graph.ranks(), nodes);
  if (inside)
    std::printf("%s left their NUMA domain, if ranks are on the cores of their node in ascending order.\n",
                percent_text(share(within.before, graph.bytes())).c_str());
  if (moved == 0 && !reordered) {
    std::printf("No better order of ranks was found; '%s' has the present one.\n", a.out.c_str());
    return;
  }
  if (moved > 0) {
    std::printf("In the order of '%s' it is %s: %s instead of %s", a.out.c_str(),
                percent_text(share(placed.after.off_node, graph.bytes())).c_str(),
                bytes_text(placed.after.off_node).c_str(), bytes_text(placed.before.off_node).c_str());
    std::printf(", and bytes times links fall to %s.\n",
                percent_text(share(placed.after.link_bytes, placed.before.link_bytes)).c_str());
  }
  if (inside)
    std::printf("In the order of '%s', %s leave their NUMA domain: %s instead of %s.\n", a.out.c_str(),
                percent_text(share(within.after, graph.bytes())).c_str(), bytes_text(within.after).c_str(),
                bytes_text(within.before).c_str());
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
    throw UsageError("--format slurm needs the names of the nodes: give --hosts FILE with one per line");
  const std::optional<placement::NodeShape> shape = shape_of(a);
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
  const Inside within = inside(graph, shape, traffic.node_of, placed.node_of);

  OutputFile file(a.out);
  file.write(order_text(a, placed, within, hosts, nodes));
  file.commit();
  std::int64_t moved = 0;
  for (std::size_t rank = 0; rank < placed.node_of.size(); ++rank)
    if (placed.node_of[rank] != traffic.node_of[rank]) ++moved;
  const bool reordered = within.core_of != placement::cores_in_order(placed.node_of);
  if (!a.json) return print_text(a, graph, placed, nodes, moved, within, shape.has_value(), reordered);
  const auto known = [&](double bytes) { return shape ? nlohmann::ordered_json(bytes) : nlohmann::ordered_json(); };
  print_json({{"ranks", graph.ranks()},
              {"nodes", nodes},
              {"moved", moved},
              {"bytes", graph.bytes()},
              {"off_node_before", placed.before.off_node},
              {"off_node", placed.after.off_node},
              {"link_bytes_before", placed.before.link_bytes},
              {"link_bytes", placed.after.link_bytes},
              {"off_domain_before", known(within.before)},
              {"off_domain", known(within.after)},
              {"node", shape ? nlohmann::ordered_json(shape->levels()) : nlohmann::ordered_json()}});
}

}  // namespace effort::tools
