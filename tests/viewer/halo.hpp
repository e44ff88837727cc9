// A halo exchange on a periodic grid of ranks, for the report's tests of communication.
#pragma once

#include <array>
#include <cstdint>
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

}  // namespace effort::test
