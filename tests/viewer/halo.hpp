// A halo exchange on a periodic grid of ranks, for the report's tests of communication.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace effort::test {

/// Ranks on a periodic grid, row-major, as near to a cube as their number allows.
class Grid {
 public:
  explicit Grid(std::int32_t ranks);
  /// The neighbours in the 26 directions; direction 25 - k is opposite to k.
  std::array<std::int32_t, 26> neighbours(std::int32_t rank) const;
  /// Coordinates in which the direction differs from the middle: 1 face, 2 edge, 3 corner.
  static int distance(int direction);

 private:
  std::array<std::int32_t, 3> n_{};
};

/// Bytes that a neighbour in a direction gets: faces 32 KiB, edges 1 KiB, corners 64.
std::uint64_t bytes_to(int direction);

/// The library's metrics of waits, those of late senders last.
inline constexpr const char* wait_metrics[] = {"collective_delay", "collective_wait",  "collective_transfer",
                                               "caused_wait",      "late_sender_wait", "message_transfer"};
/// A rank's value in a step, seconds: in windows 0 to 4 (of 10 steps), rank 7 comes last to collectives because rank 3
/// sends to it late; in window 7, rank 20 is late.
double waits(std::int32_t ranks, std::string_view metric, std::int32_t rank, std::int64_t step);

}  // namespace effort::test
