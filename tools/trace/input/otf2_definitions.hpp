// The global definitions of an OTF2 archive.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/trace/otf2/library.hpp"

namespace effort::tools::otf2 {

struct Definitions {
  struct Location {
    std::uint64_t id = 0;
    std::string name;
    bool cpu_thread = true;
    std::uint32_t group = 0;
  };
  struct Process {
    std::string name;
    std::uint32_t system_node = OTF2_UNDEFINED_SYSTEM_TREE_NODE;
  };
  struct SystemNode {
    std::string name, kind;
    std::uint32_t parent = OTF2_UNDEFINED_SYSTEM_TREE_NODE;
  };
  struct Region {
    std::string name;
    OTF2_RegionRole role = OTF2_REGION_ROLE_UNKNOWN;
  };
  struct Communicator {
    std::string name;
    std::uint32_t group = 0, remote = OTF2_UNDEFINED_GROUP;  ///< remote: of an intercommunicator
  };

  std::uint64_t ticks_per_second = 0;  ///< 0: not defined
  std::uint64_t offset = 0, started_unix_ns = OTF2_UNDEFINED_TIMESTAMP;
  std::unordered_map<std::uint32_t, std::string> strings;
  std::unordered_map<std::uint32_t, SystemNode> system_nodes;
  std::map<std::uint32_t, Process> processes;  ///< in the order of their ids
  std::vector<Location> locations;             ///< as defined
  std::unordered_map<std::uint32_t, Region> regions;
  std::vector<std::uint64_t> mpi_locations;  ///< [ranks] the location of each process that calls MPI
  /// Ranks in MPI_COMM_WORLD of groups; one of COMM_SELF is empty.
  std::unordered_map<std::uint32_t, std::vector<std::int32_t>> groups;
  std::unordered_set<std::uint32_t> global_groups;  ///< events name their members by rank in MPI_COMM_WORLD
  std::map<std::uint32_t, Communicator> communicators;
  std::unordered_map<std::uint32_t, std::uint32_t> windows;  ///< of one-sided communication: the communicator
  std::unordered_map<std::uint32_t, std::string> parameters;
  std::unordered_map<std::uint32_t, std::string> work_metrics;  ///< metric classes of effort: the unit

  const std::string& text(std::uint32_t string) const;
  /// The node of a process: the next one above it of class "node", else the one that holds it.
  std::uint32_t node_of(const Process& process) const;

  /// Of metric members while reading: name if it is an amount of work.
  std::unordered_map<std::uint32_t, std::string> work_members;
};

/// Reads the definitions.  Errors: std::runtime_error naming the archive.
Definitions read_definitions(OTF2_Reader* reader, Messages& messages, const std::string& file);

}  // namespace effort::tools::otf2
