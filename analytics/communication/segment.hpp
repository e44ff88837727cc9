// The part of a sequence to be cut.  Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::communication {

/// n log n as integers, so that sums do not depend on the order of their terms.
struct LogTable {
  std::vector<std::int64_t> value;  ///< [n + 1]
  std::vector<std::int64_t> step;   ///< [n] value[i + 1] - value[i]
  double scale = 1;                 ///< of the integers

  explicit LogTable(std::size_t n);
};

/// A place to cut.
struct Cut {
  std::size_t at = 0;                               ///< the first symbol of the second part; 0 none
  std::int64_t gain = 0;                            ///< N times the divergence
  std::size_t left_symbols = 0, right_symbols = 0;  ///< distinct ones, on each side
};

/// Symbols [first, end) of a sequence, and how often each occurs.
class Segment {
 public:
  Segment(std::span<const std::uint32_t> sequence, std::size_t symbols, const LogTable& table)
      : sequence_(sequence), table_(table), counts_(symbols) {}

  std::size_t first() const { return first_; }
  std::size_t end() const { return end_; }
  std::size_t size() const { return end_ - first_; }
  std::size_t symbols() const { return symbols_; }  ///< distinct ones
  std::int64_t sum() const { return sum_; }         ///< of n log n over the counts
  std::uint32_t count(std::uint32_t symbol) const { return counts_[symbol].right; }
  /// Bound on the effect of the table's rounding on the difference of two gains.
  std::int64_t rounding() const { return static_cast<std::int64_t>(2 * symbols_ + 2); }

  /// Counts all symbols.  The segment was empty.
  void fill(std::size_t first, std::size_t end);
  void clear();
  void remove_front(std::size_t to);
  void remove_back(std::size_t from);

  /// Tries the places `from` to `to`, which are within first + 1 and end - 1; among places with the same gain, the
  /// first is taken.  Cost: O(to - first).
  Cut best(std::size_t from, std::size_t to);
  /// Improves on a cut before `from` by trying the places `from` to end - 1.  Cost: O(end - from).
  Cut best_in_back(std::size_t from, Cut cut);

 private:
  struct Counts {
    std::uint32_t left = 0, right = 0;
  };

  void remove(std::size_t at);
  /// Restores the counts of symbols that were moved to the other side.
  void restore(std::size_t first, std::size_t end);

  std::span<const std::uint32_t> sequence_;
  const LogTable& table_;
  std::vector<Counts> counts_;  ///< all symbols of the segment are `right`, except those a search has moved
  std::size_t first_ = 0, end_ = 0, symbols_ = 0;
  std::int64_t sum_ = 0;
};

}  // namespace effort::communication
