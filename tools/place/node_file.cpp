#include "tools/place/node_file.hpp"

#include <hwloc.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tools/files/trial.hpp"

namespace effort::tools {
namespace {

struct FreeTopology {
  void operator()(hwloc_topology* t) const { hwloc_topology_destroy(t); }
};
using Topology = std::unique_ptr<hwloc_topology, FreeTopology>;

Topology load(const std::string& path) {
  constexpr std::uintmax_t most_bytes = std::uintmax_t{64} << 20;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) throw std::runtime_error("cannot open '" + path + "': check its name and permissions");
  if (bytes > most_bytes)
    throw std::runtime_error(
        "'" + path +
        "' is larger than 64 MiB, too large for the topology of a node: give a file written by 'lstopo node.xml'");
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw std::runtime_error("hwloc could not be started");
  Topology topology(raw);
  if (hwloc_topology_set_xml(raw, path.c_str()) != 0 || hwloc_topology_load(raw) != 0)
    throw std::runtime_error("'" + path + "' is not a topology of hwloc: write one with 'lstopo node.xml' on a node");
  return topology;
}

/// The cores below each object of a level; none if the objects do not divide the cores into equal parts.
std::optional<std::int32_t> cores_of_each(hwloc_topology_t topology, int depth, std::int32_t cores) {
  const auto parts = static_cast<std::int32_t>(hwloc_get_nbobjs_by_depth(topology, depth));
  std::int32_t each = 0, with_cores = 0;
  for (std::int32_t i = 0; i < parts; ++i) {
    const hwloc_obj_t part = hwloc_get_obj_by_depth(topology, depth, static_cast<unsigned>(i));
    const int n = hwloc_get_nbobjs_inside_cpuset_by_type(topology, part->cpuset, HWLOC_OBJ_CORE);
    if (n <= 0) continue;  // memory without cores
    if (with_cores++ > 0 && n != each) return std::nullopt;
    each = n;
  }
  return each > 0 && each * with_cores == cores ? std::optional(each) : std::nullopt;
}

placement::NodeShape shape_in(const std::string& path) {
  const Topology topology = load(path);
  const std::int32_t cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
  if (cores < 1)
    throw std::runtime_error("'" + path + "' describes no cores: write it with 'lstopo node.xml' without a filter");
  const auto part = [&](int depth, const char* what) {
    if (const std::optional<std::int32_t> each = cores_of_each(topology.get(), depth, cores)) return *each;
    throw std::runtime_error("the " + std::string(what) + " of '" + path +
                             "' do not have equal numbers of cores: give the closest shape with --node, such as 2x4x8");
  };
  // Cores of a part at each level, from the outermost.
  const std::int32_t domain = part(HWLOC_TYPE_DEPTH_NUMANODE, "NUMA domains");
  std::vector<std::int32_t> sizes{domain};
  for (const auto& [type, what] : {std::pair{HWLOC_OBJ_PACKAGE, "packages"},
                                   {HWLOC_OBJ_L4CACHE, "L4 caches"},
                                   {HWLOC_OBJ_L3CACHE, "L3 caches"},
                                   {HWLOC_OBJ_L2CACHE, "L2 caches"}}) {
    const int depth = hwloc_get_type_depth(topology.get(), type);
    if (depth >= 0) sizes.push_back(part(depth, what));
  }
  sizes.push_back(1);
  std::sort(sizes.rbegin(), sizes.rend());
  std::vector<std::int32_t> levels;
  std::int32_t whole = cores;
  std::size_t domain_levels = 0;
  for (const std::int32_t size : sizes) {
    if (whole % size != 0)
      throw std::runtime_error("the caches and NUMA domains of '" + path +
                               "' do not lie within each other: give the closest shape with --node, such as 2x4x8");
    if (size != whole) levels.push_back(whole / size);
    whole = size;
    if (size == domain) domain_levels = levels.size();
  }
  if (domain_levels == 0) {  // a single NUMA domain
    levels.insert(levels.begin(), 1);
    domain_levels = 1;
  }
  return placement::NodeShape(std::move(levels), domain_levels);
}

}  // namespace

placement::NodeShape read_node(const std::string& path) {
  // hwloc trusts the sets of processors in a file: it may crash if they do not fit the tree of objects.
  constexpr std::uint64_t seconds = 30;
  if (try_in_child(path, seconds, [&] { shape_in(path); }) != Trial::returned)
    throw std::runtime_error("'" + path +
                             "' is damaged: hwloc fails to read it; write it again with 'lstopo node.xml' on a node");
  return shape_in(path);
}

}  // namespace effort::tools
