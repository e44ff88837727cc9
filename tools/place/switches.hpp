// The nodes of a run by name, and the switches that connect them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/placement/network.hpp"

namespace effort::tools {

/// Nodes of a network by name, as its description lists them, and the tree of its switches.
struct Switches {
  std::vector<std::string> nodes;
  placement::Network network;
};

/// Reads a description in the format of Slurm's topology.conf: lines `SwitchName=s0 Nodes=n[0-15]` and
/// `SwitchName=top Switches=s[0-3]`; other keys of a line, comments and empty lines are skipped.
/// @throws std::runtime_error with file and line for other lines, switches that do not form one tree, and files of more
///         than 16 MiB
Switches read_switches(const std::string& path);

/// The names of a host list such as "n[00-03,7],login": n00, n01, n02, n03, n7, login.
/// @throws std::invalid_argument if it cannot be read, or stands for more than 1,048,576 names
std::vector<std::string> expand_host_list(std::string_view list);

/// Names of nodes, one per line.
/// @throws std::runtime_error if there is not one for each of `nodes`, or one occurs twice
std::vector<std::string> read_hosts(const std::string& path, std::int32_t nodes);

/// The part of the network that connects a run's nodes.  `hosts` are their names, or empty if the run's nodes are all
/// of the network's in the order of its description.
/// @throws std::runtime_error if a host is not in the description, or the numbers differ
placement::Network network_of(const Switches& switches, const std::vector<std::string>& hosts, std::int32_t nodes,
                              const std::string& path);

}  // namespace effort::tools
