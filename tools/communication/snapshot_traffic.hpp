// The communication matrix of a snapshot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/communication/matrix.hpp"
#include "record/reader.hpp"

namespace effort::tools {

struct SnapshotFlow {
  std::int32_t a = 0, b = 0;  ///< from a to b
  std::size_t region = 0;     ///< index in SnapshotTraffic::regions
  double messages = 0, bytes = 0, seconds = 0;
  std::vector<communication::SizeCount> sizes;  ///< empty: unknown, or no messages
};

/// The matrix over all windows and nodes.
struct SnapshotTraffic {
  std::int32_t n_ranks = 0;
  std::vector<std::int32_t> node_of;  ///< [ranks]
  std::vector<std::string> regions;
  std::vector<SnapshotFlow> flows;  ///< by a, b, region
};

/// The matrix; without flows if the snapshot has none.  Errors: record::FormatError.
SnapshotTraffic snapshot_traffic(record::Reader& reader);
/// @param analysis  the one that needs the matrix, for the message
/// @param or_else   appended to the remedy
/// @throws std::runtime_error if there is none; the message says how to get one
void require_flows(const SnapshotTraffic& traffic, const record::Reader& reader, const std::string& analysis,
                   const std::string& or_else = "");

}  // namespace effort::tools
