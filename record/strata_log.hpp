// The strata of a run's windows, kept as differences from window to window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace effort::record {

/// Consecutive ranks in one stratum.
struct LabelRun {
  std::int32_t first = 0, count = 0;
  std::int32_t label = 0;
  bool operator==(const LabelRun&) const = default;
};

/// The strata of an earlier window that differ from those of the next window kept.
struct StrataMove {
  std::int64_t first = 0, last = 0;  ///< steps of the window, inclusive
  std::int32_t strata = 0;           ///< their number
  std::vector<LabelRun> runs;        ///< strata of the ranks that differ, ascending by rank, not overlapping
  bool operator==(const StrataMove&) const = default;
};

/// Collects the strata of every window in bounded memory.
///
/// Strata keep their numbers as long as they keep their members, so differences are small.  If they exceed the bound,
/// every other window is dropped, so older windows are further apart.  Not thread-safe.
class StrataLog {
 public:
  /// @param most_runs  runs kept in all, at least 1; 12 bytes each here, some 3 in a file
  explicit StrataLog(std::size_t most_runs) : most_runs_(most_runs) {}

  /// The default bound for a number of ranks.
  static std::size_t usual_bound(std::int64_t ranks) { return static_cast<std::size_t>(4096 + ranks / 4); }

  /// Adds the strata of the next window.  @param label  [ranks] stratum of each rank, 0 to strata - 1; the same number
  /// of ranks in every call.  Time: O(ranks + runs).
  void add(std::int64_t first, std::int64_t last, std::int32_t strata, std::span<const std::int32_t> label);

  /// All windows kept but the last one added, oldest first, for Run::moves.
  const std::vector<StrataMove>& moves() const { return moves_; }

 private:
  void thin();

  std::size_t most_runs_;
  std::size_t runs_ = 0;
  std::vector<StrataMove> moves_;
  std::int64_t first_ = 0, last_ = 0;
  std::int32_t strata_ = 0;
  std::vector<std::int32_t> label_;  ///< of the last window added
};

/// Calls `take` with the move and the stratum of every rank in its window, from the last window to the first.
/// @param label  [ranks] strata of the window after the last move
void each_earlier(std::span<const StrataMove> moves, std::vector<std::int32_t> label,
                  const std::function<void(const StrataMove&, std::span<const std::int32_t>)>& take);

}  // namespace effort::record
