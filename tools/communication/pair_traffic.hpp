// The cells of a communication matrix: messages from one rank to another, summed over call paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analytics/communication/matrix.hpp"
#include "record/reader.hpp"
#include "tools/communication/waits_output.hpp"

namespace effort::tools {

struct PairTraffic {
  std::int32_t a = 0, b = 0;  ///< from a to b; equal for messages of a rank to itself
  double messages = 0, bytes = 0;
  double seconds = 0;  ///< in calls of both ends
  double waiting = 0;  ///< seconds that b waited for a
};

/// Sums over call paths.  Pairs that exchanged nothing and did not wait for each other are absent.
/// @param flows  message_matrix of the trace
/// @return by a, then b.  Cost: O(n log n) in flows and waits.
std::vector<PairTraffic> pair_traffic(const std::vector<communication::Flow>& flows, const WaitFindings& waits);

/// The matrix of a snapshot by windows.  `waiting` is 0: a snapshot does not store it.
struct WindowTraffic {
  std::int32_t block = 1;  ///< ranks that count as one, so that the cells of all windows together are few enough
  std::vector<std::pair<std::int64_t, std::int64_t>> windows;  ///< first and last, [frames]
  std::vector<std::vector<PairTraffic>> cells;                 ///< [frames] by a, then b, which are blocks

  bool empty() const { return windows.empty(); }
};

/// Empty if the snapshot has no matrix.
/// @param most_frames  consecutive windows are added so that there are no more
/// @param most_cells   of all frames together
/// Errors: record::FormatError.  Cost: O(flows log flows); memory: 56 bytes a flow of the node with the most.
WindowTraffic window_traffic(record::Reader& reader, std::size_t most_frames, std::size_t most_cells);

/// The sum of all windows, cells with block 1.  Errors and cost as above.
std::vector<PairTraffic> total_traffic(record::Reader& reader);

}  // namespace effort::tools
