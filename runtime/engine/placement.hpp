// Chooses where the background thread runs.
#pragma once

#include <sched.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace effort::engine {

/// Chooses processing units for a background thread; adapters/hwloc implements it with the machine's topology.
class Placement {
 public:
  virtual ~Placement() = default;

  struct Choice {
    cpu_set_t cpus;
    bool bind = false;  ///< otherwise the thread stays where the leader may run
    std::string why;    ///< for the snapshot's notes
  };
  /// @param ranks  units that each rank of the node may run on
  virtual Choice choose(std::span<const cpu_set_t> ranks) = 0;
};

/// The processing units of a list such as 0-3,8; nothing if it is not such a list or names a unit beyond the last
/// possible.
std::optional<cpu_set_t> units_of(std::string_view list);

/// Applies PIN (`auto`, `off`, or a list such as 0-3,8) to the calling thread and returns a description of what was
/// done.  A failure is also returned as a description: a thread that could not be bound still works.
std::string place_this_thread(const std::string& pin, Placement* placement, std::span<const cpu_set_t> ranks);

/// A note if a node's ranks outnumber the processing units that they may run on, so that wall time does not measure
/// their work; empty otherwise.
/// @param ranks  units that each rank may run on; a rank without any is unknown
std::string crowded_units(std::span<const cpu_set_t> ranks);

}  // namespace effort::engine
