// An upper bound on the gain of a cut far from both ends of a segment.  Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analytics/communication/segment.hpp"

namespace effort::communication {

/// In the sequence of an iterative program, the best place to cut is often a few symbols from an end, again and again:
/// all iterations look alike, and only those at the ends are incomplete.  Trying all places each time would cost
/// O(N^2).  This class shows in O(log N) that no place in the middle is better.
///
/// Let M be a window of the segment, A the part before it and C the part after it.  Dividing further never lowers the
/// gain, so a cut within M gains at most what cutting the segment into A, M and C gains, plus what the cut gains in M
/// alone.  The latter does not depend on the segment, and is kept for windows of power-of-two lengths on a fixed grid,
/// for the places in their middle halves.  The middle halves of a few windows, longer ones farther from the ends, cover
/// the middle of the segment.  The sums for the cut into A, M and C are updated when symbols are removed at an end.
class MiddleBound {
 public:
  MiddleBound(std::span<const std::uint32_t> sequence, std::size_t symbols, const LogTable& table);

  /// The places that are not covered, and are left to the caller: those up to `front`, and those from `back`.
  struct Middle {
    std::size_t front = 0, back = 0;
  };
  /// Chooses windows for the segment.  Cost: O(log N), and the distance to the next end for each new window.
  /// @param quarter  quarter of the shortest windows, a power of two.  The middle begins 4 quarters from the ends
  Middle cover(const Segment& segment, std::size_t quarter);
  /// Whether no place in the middle gains more.
  bool below(const Segment& segment, std::int64_t gain);

  /// To be called before symbols are removed from the segment.  Cost: O(runs of symbols removed x log^2 N).
  void removing_front(const Segment& segment, std::size_t to);
  void removing_back(const Segment& segment, std::size_t from);
  /// Starts on another segment.
  void forget() { windows_.clear(); }

 private:
  /// A window [begin, begin + 4 quarter) of the segment.
  struct Window {
    std::size_t begin = 0, quarter = 0;
    std::int64_t before = 0, after = 0;  ///< sums of n log n of the symbols before and after it
    std::int64_t own = 0, gain = 0;      ///< the sum of its own symbols; the largest gain of a cut in its middle half

    std::size_t end() const { return begin + 4 * quarter; }
    std::size_t middle_end() const { return begin + 3 * quarter; }
  };
  struct Known {
    std::int64_t sum = 0, gain = -1;  ///< -1: not known yet
  };

  static std::optional<Window> window_at(const Segment& segment, std::size_t place, std::size_t quarter);
  void measure(const Segment& segment, Window& window);
  void measure_from_front(const Segment& segment, Window& window);
  void measure_from_back(const Segment& segment, Window& window);
  const Known& known(const Window& window);
  /// How often a symbol occurs before a place.
  std::size_t rank(std::uint32_t symbol, std::size_t place) const;

  std::span<const std::uint32_t> sequence_;
  const LogTable& table_;
  std::vector<std::uint32_t> counts_;      ///< [symbols] all 0 between calls
  std::vector<std::size_t> first_;         ///< [symbols + 1] of each symbol in places_
  std::vector<std::uint32_t> places_;      ///< of all symbols, ascending for each
  std::vector<std::uint32_t> ordinal_;     ///< how often the symbol at a place occurs before it
  std::vector<std::vector<Known>> known_;  ///< by the logarithm of the quarter
  std::vector<Window> windows_, next_;     ///< ordered by the ends of their middle halves, which all differ
  Segment inside_;                         ///< for known()
};

}  // namespace effort::communication
