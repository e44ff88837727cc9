// The information of a snapshot about waits.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/communication/snapshot_traffic.hpp"

namespace effort::tools {

/// The time that pairs spent in MPI calls for each other.  Finding out how much of it was waiting, and for what, needs
/// the times of single calls: the corresponding keys of waits_json are null.
nlohmann::ordered_json snapshot_waits_json(const SnapshotTraffic& traffic);
std::string snapshot_waits_text(const SnapshotTraffic& traffic, bool all);

}  // namespace effort::tools
