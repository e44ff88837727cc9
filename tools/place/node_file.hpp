// The topology of a run's nodes, as hwloc describes it.
#pragma once

#include <string>

#include "analytics/placement/inside.hpp"

namespace effort::tools {

/// Whether a file begins as XML does, as hwloc's files do (`lstopo FILE.xml`).  False if it cannot be read.
bool is_xml(const std::string& path);

/// The parts of a node from hwloc's XML: packages and NUMA domains, then caches that several cores share, then cores,
/// numbered in hwloc's logical order.  Levels at which every part has a single one are left out.
/// @throws std::runtime_error if the file cannot be read, exceeds 64 MiB or does not contain a topology, if parts of a
///         level have different numbers of cores, or if effort was built without hwloc
placement::NodeShape read_node(const std::string& path);

}  // namespace effort::tools
